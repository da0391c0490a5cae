/**
 * Brings the manifest of an older release to the shape of this one, one step a version: the step under N makes a
 * manifest of version N one of version N + 1. Version 1 is the first. A change of FORMAT.md adds its step here.
 */
import { AgentdumpError } from '../errors.ts';
import { bundleSchemaVersion } from './layout.ts';

export type RawManifest = Record<string, unknown>;
export type UpgradeSteps = Record<number, (manifest: RawManifest) => RawManifest>;

const upgradeSteps: UpgradeSteps = {};

/** Throws `unsupported-version` for a manifest newer than this release, or of a version that never was. */
export function upgradeManifest(
  manifest: RawManifest,
  steps: UpgradeSteps = upgradeSteps,
  supported: number = bundleSchemaVersion,
): RawManifest {
  let version = Number(manifest['version']);
  let current = manifest;
  for (; version < supported; version++) {
    const step = steps[version];
    if (!step) throw unsupported(manifest['version'], supported);
    current = { ...step(current), version: version + 1 };
  }
  if (version !== supported) throw unsupported(manifest['version'], supported);
  return current;
}

function unsupported(version: unknown, supported: number): AgentdumpError {
  const shown = typeof version === 'number' ? version : 'that is no number';
  return new AgentdumpError(
    'unsupported-version',
    `the bundle has format version ${shown}; this release reads up to ${supported}`,
    { format: 'bundle', version: shown, supported },
  );
}
