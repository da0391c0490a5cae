/**
 * yargs by one name of our own: the build puts all of it into this module's file, because finding its many small
 * files costs a third of what `agentdump analyze` may take.
 */
export { default } from 'yargs';
