/**
 * Text typed into a field whose selector, label or placeholder names a password: arguments of browser tools
 * (`{"selector":"#password","text":"x"}`) and test code (`page.fill('#password', 'x')`, `getByLabel('Password').fill('x')`).
 */

import type { Page } from '../scan/page.ts';
import type { NameVerdict } from './key-names.ts';

const longestSelector = 160;
const takesSecret =
  /(?:^|[^A-Za-z])(?:(?:new|old|current|confirm|repeat|user|admin|login)[-_ ]?)?(?:(password|passwd|passwort|pass|passcode|passphrase|pwd|pw|secret)|otp|totp|mfa|cvv|cvc|pin)s?(?![A-Za-z])/i;
const otherParts =
  /toggle|reset|show|hide|forgot|strength|hint|error|polic|help|button|btn|link|icon|manager|page|screen|count|length|generator/i;

/** The verdict on the text for the field that a selector names. */
export function judgeSelector(selector: string): NameVerdict | undefined {
  if (selector.length > longestSelector || otherParts.test(selector)) return undefined;
  const match = takesSecret.exec(selector);
  if (!match) return undefined;
  return match[1] === undefined ? { strength: 2, rule: 'pin' } : { strength: 3, rule: 'password' };
}

/** Functions that type their last literal into a field. */
export const typesInto =
  /^(?:fill|type|fill_in|send_?[kK]eys|set_?[vV]alue|press_?[sS]equentially|(?:input|enter|type)_?[tT]ext|userEvent\.type)$/;

const longestExpression = 160;

/** The verdict on the field that the expression before the call at `start` found: `find_element(By.ID, "password")`. */
export function judgeReceiver({ text }: Page, start: number): NameVerdict | undefined {
  const before = text.slice(Math.max(0, start - longestExpression), start);
  const expression = before.slice(Math.max(before.lastIndexOf('\n'), before.lastIndexOf(';')) + 1);
  // The other quotes may stand within it: `'[name="password"]'`.
  const literals = expression.match(/(["'`])(?:(?!\1)[^\n]){2,80}\1\)?\s{0,20}\)?\s{0,20}\.\s{0,4}$/);
  return literals ? judgeSelector(literals[0]) : undefined;
}
