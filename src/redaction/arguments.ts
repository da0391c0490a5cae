/**
 * Redacts a command line argument by argument: `--api-key X`, `--token=X`, `-u user:X`, `KEY=X`, and any secret found in an
 * argument as text.
 */
import type { NameBook } from './names/name-book.ts';
import { renderPlaceholder } from './placeholder.ts';
import { isStandIn } from './values/stand-ins.ts';

export interface ArgumentRules {
  names: NameBook;
  text: (value: string) => string;
  count: (rule: string, value: string, isCertain?: boolean) => void;
}

export function redactArguments(argv: readonly string[], rules: ArgumentRules): string[] {
  const words = redactTogether(argv.map(String), rules);
  const out: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const argument = words[i]!;
    out.push(redactAssignment(argument, rules));
    const next = words[i + 1];
    const rule = ruleOfFlag(argument, rules.names);
    if (rule === undefined || next === undefined || next.startsWith('-')) continue;
    out.push(withhold(next, rule, rules));
    i += 1;
  }
  return out;
}

/**
 * Redacts the arguments joined as one text, because the command's name or the previous argument may give the meaning of the
 * next one (`mysql -px`, `curl -u a:x`).
 */
function redactTogether(argv: string[], rules: ArgumentRules): string[] {
  const clean = rules.text(JSON.stringify(argv));
  try {
    const words: unknown = JSON.parse(clean);
    const isWhole = Array.isArray(words) && words.length === argv.length;
    return isWhole && words.every((word) => typeof word === 'string') ? words : argv;
  } catch {
    return argv;
  }
}

/** The rule under which the argument after this one is withheld. */
function ruleOfFlag(argument: string, names: NameBook): string | undefined {
  if (!/^-{1,2}[A-Za-z]/.test(argument) || argument.includes('=')) return undefined;
  const { strength, rule } = names.judge(argument);
  return strength >= 2 ? rule : undefined;
}

/** Redacts `--name=value` and `NAME=value` with a sensitive name; anything else is redacted as text. */
function redactAssignment(argument: string, rules: ArgumentRules): string {
  const match = /^(-{0,2}[\w.-]{1,80}=)(.+)$/s.exec(argument);
  if (match) {
    const { strength, rule } = rules.names.judge(match[1]!.slice(0, -1));
    if (strength >= 2) return match[1]! + withhold(match[2]!, rule, rules);
  }
  return rules.text(argument);
}

function withhold(value: string, rule: string, rules: ArgumentRules): string {
  if (isStandIn(value)) return rules.text(value);
  rules.count(rule, value, true);
  return renderPlaceholder(rule, value);
}
