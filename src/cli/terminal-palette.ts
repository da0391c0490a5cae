/** The report's colours on a real terminal. Loaded only when stdout takes colour. */
import { Chalk } from 'chalk';
import type { Paint, Palette } from '../report/palette.ts';

/** Sixteen colours, which every terminal theme has made readable. output.ts has decided that colour is wanted. */
const chalk = new Chalk({ level: 1 });

/** Chalk joins all of its arguments, and `map` hands on three: a paint takes its text and nothing else. */
const only =
  (style: (text: string) => string): Paint =>
  (text) =>
    style(text);

export const terminalPalette: Palette = {
  strong: only(chalk.bold),
  faint: only(chalk.dim),
  bad: only(chalk.red),
  warn: only(chalk.yellow),
  good: only(chalk.green),
  place: only(chalk.cyan),
};
