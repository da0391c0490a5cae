/**
 * The redactor, for what is recorded while the program runs, and for names that may contain a secret. Embedded as text in the
 * preload's file like the cold half, which has the redactor too: the whole of that one, in a waiting server, took 3 MB more.
 */

export { publicName } from '../../redaction/public-name.ts';
export { createRecordingPolicy } from './recording-policy.ts';
