/**
 * An account as comparable rows: section, subject, value. Values that differ in every run without meaning anything (pids,
 * times, ids) are omitted here, and only here. Pure.
 */
import type { Account, ConnectionFacts, EnvironmentFacts, ErrorFacts } from '../../model/account.ts';
import type { AgentRun } from '../../model/agent-state.ts';
import { type DiffChange, type DiffSection, type DiffValue, diffSections } from '../../model/diff.ts';
import { culpritFrame, placeOf, shortFile } from '../../model/frame-text.ts';
import { clip } from '../../model/quantities.ts';
import { rootCause } from '../verdict/wording.ts';

export interface Fact {
  value: DiffValue;
  unit?: NonNullable<DiffChange['unit']>;
}

/** Absent if the bundle doesn't contain the information; empty if it contains that there is nothing. */
export type SectionFacts = ReadonlyMap<string, Fact>;
export type Facts = Partial<Record<DiffSection, SectionFacts>>;

const maxValueChars = 2000;

/** All sections but the frames, which have an order. */
export function readFacts(account: Account): Facts {
  const readers: Partial<Record<DiffSection, (account: Account) => SectionFacts | undefined>> = {
    verdict: verdictFacts,
    error: ({ error }) => error && errorFacts(error),
    packages: packageFacts,
    node: nodeFacts,
    argv: argvFacts,
    environment: ({ environment }) => environment?.variables && variableFacts(environment.variables),
    limits: limitFacts,
    memory: memoryFacts,
    handles: handleFacts,
    agent: agentFacts,
    config: configFacts,
  };
  const facts: Facts = {};
  for (const section of diffSections) {
    const found = readers[section]?.(account);
    if (found) facts[section] = found;
  }
  return facts;
}

/** Skips undefined values. */
function rows(entries: Iterable<[string, DiffValue | undefined, Fact['unit']?]>): SectionFacts {
  const facts = new Map<string, Fact>();
  for (const [subject, value, unit] of entries) {
    if (value === undefined) continue;
    const shown = typeof value === 'string' ? clip(value, maxValueChars) : value;
    facts.set(subject, unit ? { value: shown, unit } : { value: shown });
  }
  return facts;
}

function verdictFacts({ verdict, signature, process, signal }: Account): SectionFacts | undefined {
  if (!verdict) return undefined;
  return rows([
    ['kind', verdict.kind],
    ['title', verdict.title],
    ['confidence', verdict.confidence],
    ['signature', signature?.id],
    ['exit code', process?.exit?.code],
    ['signal', signal?.name ?? process?.exit?.signal],
  ]);
}

function errorFacts(error: ErrorFacts): SectionFacts {
  const root = rootCause(error);
  return rows([
    ['name', error.name],
    ['message', error.message],
    ['code', error.code],
    ['cause', root === error ? undefined : `${root.name ?? 'Error'}: ${root.message ?? ''}`],
    ['handled', error.handled === undefined ? undefined : String(error.handled)],
    ...Object.entries(error.properties ?? {}).map(([name, value]): [string, string] => [
      `.${name}`,
      JSON.stringify(value) ?? String(value),
    ]),
  ]);
}

/** Packages by name; if one occurs more than once, with all its versions. */
function packageFacts({ modules }: Account): SectionFacts | undefined {
  if (!modules) return undefined;
  const versions = new Map<string, Set<string>>();
  for (const { name, version = 'unknown' } of modules.packages)
    versions.set(name, (versions.get(name) ?? new Set()).add(version));
  return rows([...versions].map(([name, found]): [string, string] => [name, [...found].sort().join(', ')]));
}

function nodeFacts({ process }: Account): SectionFacts | undefined {
  if (!process?.nodeVersion) return undefined;
  const { nodeVersion, v8Version, platform, arch, container } = process;
  return rows([
    ['version', nodeVersion.replace(/^v/, '')],
    ['v8', v8Version],
    ['platform', platform && `${platform} ${arch ?? ''}`.trim()],
    ['container', container],
  ]);
}

function argvFacts({ process }: Account): SectionFacts | undefined {
  if (!process?.argv) return undefined;
  const short = (words: string[]) => words.map((word) => shortFile(word, process.cwd)).join(' ');
  return rows([
    ['arguments', short(process.argv.slice(1))],
    ['node options', process.execArgv && short(process.execArgv)],
    ['working directory', process.cwd],
  ]);
}

/** Set by every shell. */
const ofTheShell = new Set(['_', 'SHLVL', 'OLDPWD']);
const ownVariable = /^AGENTDUMP(_|$)/;

function variableFacts(variables: NonNullable<EnvironmentFacts['variables']>): SectionFacts {
  const names = Object.keys(variables).filter((name) => !ofTheShell.has(name) && !ownVariable.test(name));
  return rows(names.map((name): [string, string] => [name, variableText(variables[name])]));
}

/** Withheld values are never compared, only that they are withheld and by which rule. */
function variableText(variable: NonNullable<EnvironmentFacts['variables']>[string] | undefined): string {
  if (!variable) return '';
  return 'withheld' in variable ? `(withheld: ${variable.withheld})` : variable.value;
}

function limitFacts({ process, memory }: Account): SectionFacts | undefined {
  if (!process?.limits && !process?.cgroup && memory?.heapLimitBytes === undefined) return undefined;
  const maximum = process?.cgroup?.['memory.max'];
  return rows([
    ...Object.entries(process?.limits ?? {}).map(([name, { soft, hard }]): [string, string] => [
      name,
      soft === hard ? soft : `${soft} (hard ${hard})`,
    ]),
    ['heap limit', memory?.heapLimitBytes, 'bytes'],
    ['cgroup memory.max', maximum, typeof maximum === 'number' ? 'bytes' : undefined],
  ]);
}

function memoryFacts({ memory, process }: Account): SectionFacts | undefined {
  if (memory?.rssBytes === undefined && !memory?.classes) return undefined;
  return rows([
    ['rss', memory.rssBytes, 'bytes'],
    ['heap used', memory.heapUsedBytes, 'bytes'],
    ['uptime', process?.uptimeMs, 'ms'],
    ...(memory.classes ?? []).map(
      ({ name, count, selfSizeBytes, retainedSizeBytes }): [string, number, 'bytes' | 'count'] => {
        const bytes = retainedSizeBytes ?? selfSizeBytes;
        return bytes === undefined
          ? [`objects of ${name}`, count, 'count']
          : [`class ${name}`, bytes, 'bytes'];
      },
    ),
    ...(memory.suspects ?? []).map(({ rule, title }): [string, string] => [`suspect ${rule}`, title]),
  ]);
}

function handleFacts({ environment }: Account): SectionFacts | undefined {
  const { handles, connections } = environment ?? {};
  if (!handles) return undefined;
  return rows([
    ...handles.map(({ kind, count }): [string, number, 'count'] => [kind, count, 'count']),
    ...connectionFacts(connections ?? []),
  ]);
}

/** Without the ports that the system chose, which differ in every run: those of who connected to the program. */
function connectionFacts(connections: readonly ConnectionFacts[]) {
  const listening = new Set(
    connections.filter(({ state }) => state === 'LISTEN').map(({ local }) => splitAddress(local)?.port),
  );
  return countBy(connections, ({ local, remote, state = '' }) => {
    if (state === 'LISTEN') return 'listening socket';
    const peer = splitAddress(remote);
    if (!peer || remote === undefined) return undefined;
    if (listening.has(splitAddress(local)?.port)) return `connection from ${peer.host} ${state}`.trim();
    const isOwn = isLoopback(peer.host) && listening.has(peer.port);
    return `connection to ${isOwn ? 'itself' : remote} ${state}`.trim();
  });
}

/** An IPv4 address that is written as an IPv6 one is shown as IPv4. */
function splitAddress(address: string | undefined): { host: string; port: string } | undefined {
  const [, host = '', port = ''] = /^\[?(?:::ffff:(?=\d+\.))?(.*?)\]?:(\d+)$/i.exec(address ?? '') ?? [];
  return port ? { host, port } : undefined;
}

const isLoopback = (host: string): boolean => host.startsWith('127.') || host === '::1';

function agentFacts({ agent }: Account): SectionFacts | undefined {
  if (!agent) return undefined;
  const { runs } = agent;
  const all = <Item>(of: (run: AgentRun) => Item[]) => runs.flatMap(of);
  return rows([
    ['runs', runs.length, 'count'],
    ['steps', all((run) => run.steps).length, 'count'],
    ['messages', Math.max(0, ...runs.map((run) => run.messages.length)), 'count'],
    ['input tokens', sum(runs, (run) => run.usage?.inputTokens), 'count'],
    ['output tokens', sum(runs, (run) => run.usage?.outputTokens), 'count'],
    ...countBy(runs, (run) => `run ${run.name ?? '(unnamed)'} ${run.status}`),
    ...countBy(
      all((run) => run.modelCalls),
      (call) => `model ${call.model ?? call.provider ?? '(unknown)'} ${call.status}`,
    ),
    ...countBy(
      all((run) => run.toolCalls),
      (call) => `tool ${call.name} ${call.status}`,
    ),
    ...countBy(
      all((run) => run.steps),
      (step) => step.name && `step ${step.name} ${step.status}`,
    ),
    ...Object.entries(agent.state ?? {}).map(([name, value]): [string, string] => [
      `state ${name}`,
      JSON.stringify(value) ?? '',
    ]),
  ]);
}

function configFacts({ environment, agent }: Account): SectionFacts | undefined {
  if (!environment?.variables && !agent) return undefined;
  const own = Object.entries(environment?.variables ?? {}).filter(([name]) => ownVariable.test(name));
  return rows([
    ...own.map(([name, value]): [string, string] => [name, variableText(value)]),
    ...(agent?.runs ?? [])
      .filter((run) => run.config !== undefined)
      .map((run): [string, string] => [`run ${run.name ?? run.id}`, JSON.stringify(run.config) ?? '']),
  ]);
}

function sum(runs: AgentRun[], of: (run: AgentRun) => number | undefined): number {
  return runs.reduce((total, run) => total + (of(run) ?? 0), 0);
}

function* countBy<Item>(
  items: readonly Item[],
  nameOf: (item: Item) => string | undefined,
): Generator<[string, number, 'count']> {
  const counts = new Map<string, number>();
  for (const item of items) {
    const name = nameOf(item);
    if (name) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  for (const [name, count] of counts) yield [name, count, 'count'];
}

/** The place of the death in one line, for the leads. */
export function placeOfDeath(account: Account): string | undefined {
  const culprit = culpritFrame(account.error?.frames ?? account.threads?.find((t) => t.crashed)?.frames);
  return culprit && placeOf(culprit, account.process?.cwd);
}
