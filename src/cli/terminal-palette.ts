/** The report's colours on a real terminal. Loaded only when stdout takes colour. */
import { Chalk } from 'chalk';
import type { Palette } from '../report/palette.ts';

/** Sixteen colours, which every terminal theme has made readable. output.ts has decided that colour is wanted. */
const chalk = new Chalk({ level: 1 });

export const terminalPalette: Palette = {
  strong: chalk.bold,
  faint: chalk.dim,
  bad: chalk.red,
  warn: chalk.yellow,
  good: chalk.green,
  place: chalk.cyan,
};
