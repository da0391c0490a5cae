/** The public API of this folder: `agentdump/redaction` for hosts, and what capture calls. */
export { findCanary } from './canary.ts';
export type { EnvironmentValue } from './environment.ts';
export { createPolicy, type Policy, type PolicyOptions } from './policy.ts';
export { createRedactor, type RedactOptions, redact, type StreamRedactor } from './redact.ts';
export {
  createSnapshotRedactor,
  type SnapshotRedactor,
  type SnapshotRedactorOptions,
} from './snapshot/redactor.ts';
export type { SnapshotStrings } from './snapshot/strings.ts';
export type { ValueLimits } from './structured-value.ts';
