/**
 * The redactor of names, which is needed at a start only where the program's name may hold a secret. Text in the preload's file as
 * the cold half is: carried as code it was 200 KB that V8 scanned at each start, a third of all that a start cost.
 */

export { programName } from './program-name.ts';
