/** Packages, those that differ from the lock file first, and native modules. */
import type { Account, PackageFacts } from '../../../model/account.ts';
import { formatCount } from '../../../model/quantities.ts';
import { Chip } from '../parts/small.tsx';
import { Table } from '../parts/table.tsx';

export function Modules({ account: { modules } }: { account: Account }) {
  const packages = modules?.packages ?? [];
  const native = modules?.native ?? [];
  const drifted = packages.filter(({ drift }) => drift);
  return (
    <>
      <p class="lead">
        {packages.length ? packagesText(packages.length, drifted.length) : 'Packages are not known.'}
      </p>
      {packages.length ? (
        <Table
          head={['Package', 'Loaded', 'Asked for', 'Against the lock file']}
          rows={[...drifted, ...packages.filter(({ drift }) => !drift)].map(packageRow)}
        />
      ) : null}
      {native.length ? (
        <details class="fold-section">
          <summary>{formatCount(native.length, 'native module')}</summary>
          <Table
            head={['Native module', 'From', 'To', 'Build id']}
            rows={native.map(({ path, base, end, buildId }) => [
              <code key="path">{path}</code>,
              <code key="base">{base}</code>,
              <code key="end">{end}</code>,
              <code key="id" class="hash">
                {buildId}
              </code>,
            ])}
          />
        </details>
      ) : null}
    </>
  );
}

function packagesText(loaded: number, drifted: number): string {
  const differ = drifted === 1 ? 'one differs' : `${drifted || 'none is known to'} differ`;
  return `${formatCount(loaded, 'package')} loaded; ${differ} from the lock file.`;
}

function packageRow({ name, version, requested, drift, path }: PackageFacts) {
  return [
    <span key="name" title={path}>
      {name}
    </span>,
    version ?? '',
    requested ?? '',
    drift ? (
      <Chip key="drift" tone="warn">
        {drift}
      </Chip>
    ) : (
      ''
    ),
  ];
}
