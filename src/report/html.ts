/**
 * The account as one HTML file without network access: it contains data, program and style, and its policy prevents
 * everything else from running. The page itself is written in html/ and built into two texts, which the caller passes in.
 * This is only the shell: text that could attack the document is neutralized here, before the page reads any of it.
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
 * JSON for a script element: without `<`, so it contains neither an end tag nor the comment that changes what an end tag is
 * (https://html.spec.whatwg.org/multipage/scripting.html#restrictions-for-contents-of-script-elements), and without commands
 * for a CI runner. Everything else that is valid in JSON but not in a page was escaped before.
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
