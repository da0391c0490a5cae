/**
 * Brings the manifest of an older release to the shape of this one, one step a version: the step under N makes a
 * manifest of version N one of version N + 1. Version 1 is the first. A change of FORMAT.md adds its step here.
 */
import { AgentdumpError, MalformedInput } from '../../errors.ts';
import { bundleSchemaVersion } from '../layout/bundle.ts';

export type RawManifest = Record<string, unknown>;
export type UpgradeSteps = Record<number, (manifest: RawManifest) => RawManifest>;

const upgradeSteps: UpgradeSteps = {};

/** Throws `unsupported-version` for a manifest newer than this release, `malformed-input` for a version that never was. */
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
