/**
 * Wraps lines to the width of the terminal: the rest of a long line continues in the next one, indented under its text.
 * Colours have no width, wide characters take two columns. Lines of code were cut before.
 */

const pieces = /\x1b\[[0-9;]*m|[\s\S]/gu;
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;
/** The fast path for nearly all lines. */
const plain = /^[\x20-\x7e]*$/;

export function widthOf(line: string): number {
  if (plain.test(line)) return line.length;
  let width = 0;
  for (const [piece] of line.matchAll(pieces)) width += widthOfPiece(piece);
  return width;
}

function widthOfPiece(piece: string): number {
  if (piece.length > 1 && piece.startsWith('\x1b')) return 0;
  if (/^\p{M}$/u.test(piece)) return 0;
  return wide.test(piece) ? 2 : 1;
}

export function fitLines(lines: readonly string[], columns: number): string[] {
  const room = Math.max(20, columns);
  return lines.flatMap((text) => text.split('\n')).flatMap((line) => fitLine(line, room));
}

function fitLine(text: string, room: number): string[] {
  const deepest = room - 16;
  const line = text.replace(/^ +/, (blanks) => blanks.slice(0, deepest));
  if (line.length <= room && plain.test(line)) return [line];
  if (widthOf(line) <= room) return [line];
  const indent = Math.min(hangOf(line), deepest);
  const rows: string[] = [];
  let row = '';
  let width = 0;
  /** Length of the row up to its last blank after a word; 0 if there is none. */
  let blank = 0;
  let hasWord = false;
  for (const [piece] of line.matchAll(pieces)) {
    const size = widthOfPiece(piece);
    while (width + size > room && hasWord) {
      const rest = row.slice(blank || row.length);
      rows.push(row.slice(0, blank || row.length).trimEnd());
      row = `${' '.repeat(indent)}${rest}`;
      width = indent + widthOf(rest);
      blank = 0;
      hasWord = rest !== '';
    }
    if (piece === ' ' && !hasWord && rows.length) continue;
    row += piece;
    width += size;
    if (piece !== ' ' && size > 0) hasWord = true;
    else if (piece === ' ' && hasWord) blank = row.length;
  }
  return [...rows, row.trimEnd()];
}

/** The column of the text: the indentation plus two. */
function hangOf(line: string): number {
  const bare = line.replace(/\x1b\[[0-9;]*m/g, '');
  return (/^ */.exec(bare)?.[0].length ?? 0) + 2;
}

/** At most `most` lines; the rest is counted, with a reference to --json. */
export function foldLines(lines: readonly string[], most: number): string[] {
  if (lines.length <= most) return [...lines];
  const hidden = lines.length - most + 1;
  return [...lines.slice(0, most - 1), `… ${hidden} more lines, see --json`];
}
