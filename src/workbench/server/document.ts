/**
 * A document of the workbench: the shell around the page's script, with the state of its view and the account as JSON. The
 * content security policy allows only the server's own two files, and text can't become markup or code.
 */
import type { Account } from '../../model/account.ts';
import { embeddedJson, escapeHtml } from '../../report/html.ts';
import type { ViewState } from '../protocol.ts';

export const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    'img-src data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** All text in state and account must already be escaped. */
export function renderDocument(state: ViewState, account?: Account): string {
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<link rel="icon" href="data:,">',
    `<title>${escapeHtml(state.title)}</title>`,
    `<link rel="stylesheet" href="${state.base}workbench.css">`,
    '</head>',
    '<body>',
    '<div id="page"><noscript>The workbench needs JavaScript.</noscript></div>',
    `<script type="application/json" id="state">${embeddedJson(state)}</script>`,
    `<script type="application/json" id="account">${embeddedJson(account ?? { gaps: [] })}</script>`,
    `<script src="${state.base}workbench.js"></script>`,
    '</body>',
    '</html>',
    '',
  ].join('\n');
}
