/** The tokens of a store's service, for people. */
import { formatBytes } from '../model/quantities.ts';
import { escapeLine } from './escape-terminal.ts';
import { type Palette, plainPalette } from './palette.ts';
import { renderTable } from './text/table.ts';

interface ListedToken {
  name: string;
  may: string;
  bundlesPerHour: number;
  bytesPerHour: number;
  madeAt: string;
  revokedAt?: string;
  bundles: number;
  bytes: number;
}

export function renderTokens(
  tokens: readonly ListedToken[],
  { columns, palette = plainPalette }: { columns: number; palette?: Palette },
): string {
  const rows = tokens.map((token) => [
    escapeLine(token.name),
    token.revokedAt === undefined ? token.may : `revoked ${token.revokedAt.slice(0, 10)}`,
    token.madeAt.slice(0, 10),
    `${token.bundles}, ${formatBytes(token.bytes)}`,
    `${token.bundlesPerHour}, ${formatBytes(token.bytesPerHour)}`,
  ]);
  return `${renderTable({ palette, columns }, ['name', 'may', 'made', 'uploaded', 'limit by hour'], rows).join('\n')}\n`;
}
