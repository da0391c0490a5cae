/**
 * Re-exports yargs: the build bundles all of it into this module's file, because finding its many small files takes a third
 * of the time budget of `agentdump analyze`.
 */
export { default } from 'yargs';
