/**
 * The redactor, for what is recorded while the program runs, for names that may contain a secret, and for the bundle. Embedded as
 * text in the preload's file like the cold half, which is built without it and is given these exports (`redactorIsGiven` in
 * test/support/build/build-preload.mjs): a waiting server must not keep the text of the cold half, and a death in it not compile
 * the redactor a second time.
 */

export { createPolicy } from '../../redaction/policy.ts';
export { publicName } from '../../redaction/public-name.ts';
export { createSnapshotRedactor } from '../../redaction/snapshot/redactor.ts';
export { createRecordingPolicy } from './recording-policy.ts';
