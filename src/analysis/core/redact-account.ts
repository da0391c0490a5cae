/**
 * Redacts the account of a core where it leaves the analysis: values of arguments and variables, lines of source, and what the
 * verdict quotes. A full core holds everything that the process held, so that its account may be printed, stored and sent only
 * like this.
 */
import type { Account } from '../../model/account.ts';
import type { Frame, LocalVariable } from '../../model/thread.ts';
import type { Verdict } from '../../model/verdict.ts';
import { createPolicy, type Policy } from '../../redaction/index.ts';
import type { CoreDump } from './core-dump.ts';
import { withoutName } from './graph/inspect-object.ts';
import { learnSecrets } from './mini/redact-core.ts';
import { findVariables } from './process/start-words.ts';

export type AccountRedactor = Pick<Policy, 'text' | 'code' | 'argv'>;

/**
 * Knows the secrets in the dead process's environment and command line, those that the names of variables and fields in the account show, and the
 * names that the process itself was told to allow and deny.
 */
export function redactorOf(dump: CoreDump, account: Account): Policy {
  const environment = findVariables(dump) ?? {};
  const policy = createPolicy({
    environment,
    allow: namesIn(environment['AGENTDUMP_ALLOW']),
    deny: namesIn(environment['AGENTDUMP_DENY']),
    commandLine: account.process?.argv ?? [],
    learns: true,
  });
  learnSecrets(account, policy);
  return policy;
}

const namesIn = (list = ''): string[] =>
  list
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);

export function redactAccount(account: Account, redactor: AccountRedactor): Account {
  const inFrames = <Stack extends { frames: Frame[] }>(stack: Stack): Stack => ({
    ...stack,
    frames: stack.frames.map((frame) => redactFrame(frame, redactor)),
  });
  return {
    ...account,
    ...(account.process?.argv && {
      process: { ...account.process, argv: redactor.argv(account.process.argv) },
    }),
    ...(account.threads && { threads: account.threads.map(inFrames) }),
    ...(account.suspended && { suspended: account.suspended.map(inFrames) }),
    ...(account.verdict && { verdict: redactVerdict(account.verdict, redactor) }),
  };
}

function redactFrame(frame: Frame, redactor: AccountRedactor): Frame {
  return {
    ...frame,
    ...(frame.locals && { locals: frame.locals.map((local) => redactLocal(local, redactor)) }),
    ...(frame.source && {
      source: frame.source.map((line) => ({ ...line, text: redactor.code(line.text) })),
    }),
  };
}

/** The name may be what tells that a value is a secret. */
function redactLocal(local: LocalVariable, redactor: AccountRedactor): LocalVariable {
  const text = redactor.text(`${local.name} = ${local.value}`);
  return { ...local, value: withoutName(local.name, text) };
}

function redactVerdict(verdict: Verdict, redactor: AccountRedactor): Verdict {
  return {
    ...verdict,
    title: redactor.text(verdict.title),
    summary: redactor.text(verdict.summary),
    evidence: verdict.evidence.map((each) => ({ ...each, fact: redactor.text(each.fact) })),
  };
}
