/**
 * The account as one HTML file that asks nothing of the network: data, program and style stand in it, and its policy
 * lets nothing else run. The page itself is written in html/ and built into two texts, which the caller hands in.
 * Knows the shell only: what hostile text could do to a document is stopped here, before the page reads any of it.
 */
import { createHash } from 'node:crypto';
import type { Account } from '../model/account.ts';
import { escapeTerminal } from './escape-terminal.ts';
import { mapStrings } from './map-strings.ts';

export interface PageAssets {
  script: string;
  style: string;
}

export function renderHtml(account: Account, { script, style }: PageAssets): string {
  const safe = mapStrings(account, escapeTerminal);
  const { verdict } = safe;
  const title = verdict?.title ?? 'agentdump';
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policyFor(script, style)}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="referrer" content="no-referrer">',
    '<link rel="icon" href="data:,">',
    `<title>${escapeHtml(title)}</title>`,
    `<style>${style}</style>`,
    '</head>',
    '<body>',
    '<div id="page">',
    `<noscript><main><h1>${escapeHtml(title)}</h1><p>${escapeHtml(verdict?.summary ?? '')}</p></main></noscript>`,
    '</div>',
    `<script type="application/json" id="account">${embeddedJson(safe)}</script>`,
    `<script>${script}</script>`,
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

/**
 * Only these two texts run, and no text becomes markup or code: https://www.w3.org/TR/CSP3/ and, for the last line,
 * https://www.w3.org/TR/trusted-types/.
 */
function policyFor(script: string, style: string): string {
  return [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

const hashOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;

/**
 * JSON that stands in a script element: no `<`, so neither an end tag nor the comment that changes what an end tag is
 * (https://html.spec.whatwg.org/multipage/scripting.html#restrictions-for-contents-of-script-elements). Nor a command
 * for a CI runner; everything else that JSON may hold and a page may not was written out before.
 */
export function embeddedJson(safe: object): string {
  return JSON.stringify(safe).replace(/<|##(?=\[|vso\[)/g, (found) =>
    found === '<' ? '\\u003c' : '#\\u0023',
  );
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (c) => entities[c] ?? c);
