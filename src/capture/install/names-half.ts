/**
 * The redactor of names, needed at start only if the program's name may contain a secret. Embedded as text in the preload's
 * file like the cold half: as code it was 200 KB that V8 scanned at each start, a third of the total cost of a start.
 */

export { programName } from './program-name.ts';
