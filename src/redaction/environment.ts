/**
 * Redacts a process's environment. A variable with a sensitive name is withheld whole. Any other value is searched as text,
 * and also withheld if it looks random and its name is unknown.
 */
import type { NameBook } from './names/name-book.ts';
import { isEverydayWord } from './values/findings.ts';
import { isPublicId } from './values/public-ids.ts';
import { hasLongRandomPart, looksRandom } from './values/randomness.ts';
import { isStandIn } from './values/stand-ins.ts';
import { isPlainDatum } from './values/values.ts';

export type EnvironmentValue = { value: string } | { withheld: string };

let harmless: Set<string> | undefined;

/** Variables that every system sets. Their values are only searched as text. */
function isHarmless(name: string): boolean {
  harmless ??= new Set(
    `PATH HOME PWD OLDPWD SHELL USER LOGNAME LANG LANGUAGE TERM TERM_PROGRAM COLORTERM EDITOR VISUAL PAGER HOSTNAME TZ
    TMPDIR TEMP TMP SHLVL DISPLAY NODE_ENV NODE_OPTIONS NODE_PATH NODE_VERSION YARN_VERSION DEBUG CI PORT HOST LS_COLORS
    XDG_RUNTIME_DIR XDG_DATA_DIRS XDG_SESSION_ID XDG_SESSION_TYPE SSH_AUTH_SOCK SSH_AGENT_PID SSH_CLIENT SSH_CONNECTION
    SSH_TTY DBUS_SESSION_BUS_ADDRESS MANPATH INFOPATH LD_LIBRARY_PATH NO_COLOR FORCE_COLOR INIT_CWD INVOCATION_ID
    JOURNAL_STREAM KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT GITHUB_SHA GITHUB_REF GITHUB_RUN_ID CI_COMMIT_SHA
    GPG_KEY PYTHON_SHA256 _`.split(/\s+/),
  );
  return (
    harmless.has(name) ||
    name.startsWith('LC_') ||
    name.startsWith('npm_package_') ||
    name.startsWith('npm_lifecycle')
  );
}

export interface EnvironmentRules {
  names: NameBook;
  text: (value: string) => string;
  count: (rule: string, value: string, isCertain?: boolean) => void;
}

export function redactEnvironment(
  environment: Record<string, string | undefined>,
  rules: EnvironmentRules,
): Record<string, EnvironmentValue> {
  const out: Record<string, EnvironmentValue> = Object.create(null);
  for (const name of Object.keys(environment).sort()) {
    const value = environment[name];
    if (value !== undefined) out[name] = redactVariable(name, value, rules);
  }
  return out;
}

function redactVariable(name: string, value: string, rules: EnvironmentRules): EnvironmentValue {
  const rule = withholdingRule(name, value, rules.names);
  if (rule !== undefined) {
    rules.count(rule, value, true);
    return { withheld: rule };
  }
  const shown = rules.text(value);
  if (shown !== value || isHarmless(name) || rules.names.isAllowed(name) || !isRandom(value))
    return { value: shown };
  rules.count('random-value', value);
  return { withheld: 'random-value' };
}

function withholdingRule(name: string, value: string, names: NameBook): string | undefined {
  const { strength, rule } = names.judge(name);
  if (isHarmless(name) && rule !== 'denied-name') return undefined;
  if (strength >= 2 && value !== '') return rule;
  return strength === 1 && !isPlainDatum(value) && !isStandIn(value) ? rule : undefined;
}

function isRandom(value: string): boolean {
  if (isPublicId(value) || isPlainDatum(value)) return false;
  return looksRandom(value, 20) || (!/[\s/]/.test(value) && hasLongRandomPart(value));
}

/**
 * Whether a variable's value is a secret worth looking for everywhere: it is random, or its name is sensitive and the value is no
 * everyday word.
 */
export function isWorthKnowing(name: string, value: string, names: NameBook): boolean {
  if (value.length < 6) return false;
  const { strength, rule } = names.judge(name);
  if (isHarmless(name) && rule !== 'denied-name') return false;
  // Last: to compile the expressions for stand-ins takes milliseconds.
  return isSecret(name, value, names, { strength, rule }) && !isStandIn(value);
}

function isSecret(
  name: string,
  value: string,
  names: NameBook,
  { strength, rule }: ReturnType<NameBook['judge']>,
): boolean {
  if (strength < 2) return !names.isAllowed(name) && isRandom(value);
  if (isPlainDatum(value))
    return rule === 'denied-name' || /^\d{8,}$/.test(value) || /:\/\/[^/\s]*@/.test(value);
  return !isEverydayWord(value);
}
