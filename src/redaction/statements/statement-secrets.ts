/**
 * Secrets in commands and statements without a sign between name and value: `ENV NAME value`, `setx NAME value`, `git config
 * user.token value`, `requirepass value`, `htpasswd -b file user value`, `echo value | sudo -S`. The words are those of
 * statement-rules.ts.
 */

import { findAuthorization } from '../grammars/header-values.ts';
import type { NameBook } from '../names/name-book.ts';
import { textBefore } from '../scan/escapes.ts';
import type { Finding, Page } from '../scan/page.ts';
import { nameByShape } from '../scan/shape-table.ts';
import { isInvented, isTypedWord } from '../values/plain-words.ts';
import { isFillIn, isStandIn } from '../values/stand-ins.ts';
import { readBare, readQuoted } from '../values/value-span.ts';
import { isSecretValue, looksChosen } from '../values/values.ts';
import type { StatementRule } from './statement-rule.ts';
import { buildStatementRules } from './statement-rules.ts';

let rules: Map<string, StatementRule[]> | undefined;

const ruleTable = (): Map<string, StatementRule[]> => {
  rules ??= buildStatementRules();
  return rules;
};

export const toldWords = (): string[] => [...ruleTable().keys()];

/** The secret in the statement that the word at [start, end) may start; `word` is its lower case. */
export function findTold(
  page: Page,
  names: NameBook,
  word: string,
  start: number,
  end: number,
): Finding | undefined {
  const candidates = ruleTable().get(word);
  if (!candidates) return undefined;
  const { units } = page;
  let before: string | undefined;
  for (const rule of candidates) {
    if (rule.capitals && !isInCapitals(units, start, end)) continue;
    if (rule.letterBefore && (units[start - 1] !== 32 || (units[start - 2]! | 32) !== rule.letterBefore))
      continue;
    // Tested first, because it is anchored; `before` must be searched for.
    rule.lead.lastIndex = end;
    if (!rule.lead.test(page.text)) continue;
    if (rule.before) {
      before ??= textBefore(page, start, reach);
      if (!rule.before.test(before)) continue;
    }
    const found = applyRule(page, names, rule, end);
    if (found) return found;
  }
  return undefined;
}

function isInCapitals(units: Uint16Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (units[i]! > 96 && units[i]! < 123) return false;
  return true;
}

/** How much text is examined before a word. */
const reach = 80;
const longestValue = 1024;
const bare = { encoded: false, wholeLine: false };

function applyRule(page: Page, names: NameBook, rule: StatementRule, from: number): Finding | undefined {
  const { text } = page;
  rule.lead.lastIndex = from;
  const match = rule.lead.exec(text);
  if (!match) return undefined;
  const at = rule.lead.lastIndex;
  const span = readQuoted(page, at) ?? readBare(page, at, bare, longestValue + 1);
  if (span.end - span.start > longestValue || isFillIn(text, at, span.end)) return undefined;
  if (rule.tail) {
    rule.tail.lastIndex = span.end;
    if (!rule.tail.test(text)) return undefined;
  }
  const written = text.slice(span.start, span.end);
  // A number that ends a sentence.
  const whole = /^\d+\.$/.test(written) ? written.slice(0, -1) : written;
  const value = rule.part ? (rule.part.exec(whole)?.[1] ?? '') : whole;
  const start = span.start + whole.indexOf(value);
  const verdict = match.groups ? names.judge(match.groups['name']!) : undefined;
  if (verdict?.form === 'authorization')
    return findAuthorization(page, { ...span, close: span.end, quoted: span.quoted }, whole, '');
  if (verdict) {
    const form = { quoted: span.quoted, tight: false, startsLine: true, endsLine: true, next: 0 };
    if (verdict.strength < 2 || !isSecretValue(value, verdict, form)) return undefined;
  } else if (value.length < 4 || isStandIn(value) || value.startsWith('-')) return undefined;
  if (rule.chosen && !looksChosen(value) && !isInvented(value) && !/^[0-9a-f]{32,128}$/.test(value))
    return undefined;
  if (rule.typed && !isTypedWord(value)) return undefined;
  const found = { start, end: start + value.length };
  return nameByShape(page, found, verdict?.rule ?? rule.rule ?? 'password');
}
