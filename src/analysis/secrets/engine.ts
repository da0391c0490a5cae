/**
 * The search engine for secrets in a finished bundle: secretlint, if it is installed, which shares nothing with the redactor
 * that wrote the bundle; otherwise the redactor again, which finds what bypassed it but has the same blind spots. The result
 * names the engine. Neither engine reveals values.
 */
import { createRequire } from 'node:module';
import { createPolicy } from '../../redaction/index.ts';

export interface Suspect {
  rule: string;
  /** 0-based, in UTF-16 code units of the searched text. */
  offset: number;
}

export interface SecretEngine {
  name: string;
  /** False for the redactor that wrote the bundle. */
  independent: boolean;
  find(text: string, part: string): Promise<Suspect[]>;
}

/** The redactor's placeholder for a secret. Rules that report it as a password are ignored. */
const placeholder = /\[redacted:[a-z0-9-]+(?:#[0-9a-f]{8})?\]?/;

export async function loadEngine(): Promise<SecretEngine> {
  return (await loadSecretlint()) ?? ownEngine();
}

/** Undefined if it is not installed: it is an optional dependency. */
export async function loadSecretlint(): Promise<SecretEngine | undefined> {
  try {
    const [{ lintSource }, { creator }] = await Promise.all([
      import('@secretlint/core'),
      import('@secretlint/secretlint-rule-preset-recommend'),
    ]);
    const config = { rules: [{ id: '@secretlint/secretlint-rule-preset-recommend', rule: creator }] };
    const find = async (content: string, part: string): Promise<Suspect[]> => {
      const source = { filePath: part, content, ext: '.txt', contentType: 'text' as const };
      const { messages } = await lintSource({ source, options: { config, maskSecrets: true } });
      return messages
        .filter(({ range: [start, end] }) => !placeholder.test(content.slice(start, end)))
        .map(({ ruleId, messageId, range }) => ({ rule: ruleNameOf(ruleId, messageId), offset: range[0] }));
    };
    return { name: `secretlint ${versionOf('@secretlint/core')}`, independent: true, find };
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

function ruleNameOf(ruleId: string, messageId: string): string {
  return `${ruleId.replace(/^.*secretlint-rule-/, '')}: ${messageId.toLowerCase().replaceAll('_', ' ')}`;
}

function versionOf(name: string): string {
  const { version } = createRequire(import.meta.url)(`${name}/package.json`) as { version: string };
  return version;
}

/**
 * The redactor with default settings and no known values: what it changes now should have been changed when the bundle was
 * written.
 */
export function ownEngine(): SecretEngine {
  const policy = createPolicy();
  const clean = (text: string, part: string): string => {
    if (part.startsWith('sources/') || part.startsWith('maps/')) return policy.code(text);
    return part.startsWith('heap.') ? policy.names(text) : policy.text(text);
  };
  const find = async (text: string, part: string): Promise<Suspect[]> => {
    policy.resetCounts();
    const after = clean(text, part);
    if (after === text) return [];
    const offset = firstDifference(text, after);
    return [...policy.counts().keys()].map((rule) => ({ rule, offset }));
  };
  return { name: 'agentdump’s own redactor', independent: false, find };
}

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  return at;
}
