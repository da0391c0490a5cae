/** The process and its surroundings: command, machine, limits, variables, handles, connections. */
import type { Account, EnvironmentFacts, ProcessFacts } from '../../../model/account.ts';
import { formatBytes, formatNumber } from '../../../model/quantities.ts';
import { quoteWords } from '../../../platform/paths.ts';
import { Chip, Facts, When } from '../parts/small.tsx';
import { Table } from '../parts/table.tsx';
import { isUnfolded, unfold } from '../state.ts';

export function Environment({ account: { process, environment } }: { account: Account }) {
  const os = environment?.os;
  return (
    <>
      {process?.argv?.length ? <pre class="command">{commandOf(process)}</pre> : null}
      <Facts
        facts={[
          ['Folder', process?.cwd && <code>{process.cwd}</code>],
          ['Started', <When key="started" at={process?.startedAt} />],
          ['Parent', process?.parentPid],
          ['Machine', os && [os['type'], os['release'], process?.arch].filter(Boolean).join(' ')],
          ['Processors', os?.['cpus']],
          ['V8', process?.v8Version],
          ['Container', process?.container],
          ...cgroupFacts(process),
        ]}
      />
      <Handles environment={environment} />
      <Variables environment={environment} />
      {process?.limits && Object.keys(process.limits).length ? (
        <details class="fold-section">
          <summary>Limits</summary>
          <Table
            head={['Limit', 'Soft', 'Hard']}
            rows={Object.entries(process.limits).map(([name, { soft, hard }]) => [name, soft, hard])}
            numbers={[1, 2]}
            most={40}
          />
        </details>
      ) : null}
    </>
  );
}

/** As it was typed: the program, Node's options, then the script and its arguments. */
function commandOf({ argv = [], execArgv = [] }: ProcessFacts): string {
  return quoteWords([argv[0] ?? '', ...execArgv, ...argv.slice(1)]);
}

/** By the names of cgroup version 2, for both versions: the files of version 1 are named after their units. */
const cgroupNames: Record<string, string> = {
  path: 'Cgroup',
  'memory.max': 'Memory limit',
  'memory.current': 'Memory of the cgroup',
  'memory.peak': 'Peak of the cgroup',
  'memory/memory.limit_in_bytes': 'Memory limit',
  'memory/memory.usage_in_bytes': 'Memory of the cgroup',
  'memory/memory.max_usage_in_bytes': 'Peak of the cgroup',
};
/** If there is no limit, version 1 contains 2⁶³ minus a page. */
const noLimitBytes = 2 ** 60;

function cgroupFacts(process: ProcessFacts | undefined): [string, string][] {
  return Object.entries(process?.cgroup ?? {}).map(([name, value]) => {
    const label = cgroupNames[name];
    if (typeof value === 'string') return [label ?? name, value === 'max' ? 'none' : value];
    if (label === undefined) return [name, formatNumber(value)];
    return [label, value >= noLimitBytes ? 'none' : formatBytes(value)];
  });
}

function Handles({ environment }: { environment: EnvironmentFacts | undefined }) {
  const handles = environment?.handles ?? [];
  const connections = environment?.connections ?? [];
  return (
    <>
      {handles.length ? (
        <Table
          head={['Open', 'Count', 'What']}
          rows={handles.map(({ kind, count, detail }) => [kind, formatNumber(count), detail ?? ''])}
          numbers={[1]}
        />
      ) : null}
      {connections.length ? (
        <Table
          head={['Connection', 'From', 'To', 'State']}
          rows={connections.map(({ protocol, local, remote, state }) => [
            protocol,
            local ?? '',
            remote ?? '',
            state ?? '',
          ])}
          most={8}
        />
      ) : null}
    </>
  );
}

function Variables({ environment }: { environment: EnvironmentFacts | undefined }) {
  const all = Object.entries(environment?.variables ?? {});
  if (!all.length) return null;
  const withheld = all.filter(([, value]) => 'withheld' in value).length;
  const id = 'environment-variables';
  const isOpen = isUnfolded(id);
  return (
    <details
      id={id}
      class="fold-section"
      open={isOpen}
      onToggle={(event) => {
        if (event.currentTarget.open !== isUnfolded(id)) unfold(id, event.currentTarget.open);
      }}
    >
      <summary>
        {formatNumber(all.length)} variables{withheld ? `, ${formatNumber(withheld)} withheld` : ''}
      </summary>
      {isOpen ? (
        <Table
          head={['Variable', 'Value']}
          most={300}
          rows={all.map(([name, value]) => [
            <code key="name">{name}</code>,
            'value' in value ? (
              <code key="value">{value.value}</code>
            ) : (
              <Chip key="withheld" tone="warn">
                withheld: {value.withheld}
              </Chip>
            ),
          ])}
        />
      ) : null}
    </details>
  );
}
