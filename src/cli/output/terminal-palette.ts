/** The report's colours on a real terminal. Loaded only if stdout takes colours. */
import { Chalk } from 'chalk';
import type { Paint, Palette } from '../../report/palette.ts';

/** Sixteen colours, which are readable in every terminal theme. output.ts has decided that colours are used. */
const chalk = new Chalk({ level: 1 });

/** Chalk joins all its arguments, and `map` passes three, so only the first is passed on. */
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
