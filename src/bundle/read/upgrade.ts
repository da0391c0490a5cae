/**
 * Upgrades the manifest of an older version step by step: the step under N turns version N into N + 1. Version 1 is the
 * first. A change of FORMAT.md adds its step here.
 */
import { AgentdumpError, MalformedInput } from '../../errors.ts';
import { bundleSchemaVersion } from '../layout/bundle.ts';

export type RawManifest = Record<string, unknown>;
export type UpgradeSteps = Record<number, (manifest: RawManifest) => RawManifest>;

const upgradeSteps: UpgradeSteps = {};

/** Throws `unsupported-version` for a manifest that is newer than this release, `malformed-input` for an invalid version. */
export function upgradeManifest(
  manifest: RawManifest,
  steps: UpgradeSteps = upgradeSteps,
  supported: number = bundleSchemaVersion,
): RawManifest {
  const found = manifest['version'];
  if (typeof found !== 'number' || !Number.isSafeInteger(found) || found < 1)
    throw new MalformedInput('its version is none', { format: 'bundle', field: 'version' });
  if (found > supported) throw newer(found, supported);
  let current = manifest;
  for (let version = found; version < supported; version++)
    current = { ...steps[version]!(current), version: version + 1 };
  return current;
}

function newer(version: number, supported: number): AgentdumpError {
  return new AgentdumpError(
    'unsupported-version',
    `the bundle has format version ${version}; this release reads up to ${supported}`,
    { format: 'bundle', version, supported },
  );
}
