/** When a Node of the matrix needs a row in the layout table, and what happens for a V8 without one. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { FileSource } from '../../../src/bytes/byte-source.ts';
import { findFileOffset, readElf } from '../../../src/formats/elf/elf-file.ts';
import { findSymbolTable } from '../../../src/formats/elf/symbols.ts';
import { layoutRows, provenLines } from '../../../src/formats/v8/heap/layout-rows.ts';
import { findLayout, findProvenVersion } from '../../../src/formats/v8/heap/object-layout.ts';
import { V8Metadata } from '../../../src/formats/v8/metadata.ts';
import { nodes } from '../../support/cores/core-victims.ts';

function readMetadata(
  path: string,
  change: (values: Map<string, number>) => void = () => {},
): { metadata: V8Metadata; version: { major: number; minor: number } } {
  const source = new FileSource(path);
  const file = readElf(source);
  const symbols = findSymbolTable(file, 'dynamic');
  const number = (address: number) => {
    const offset = findFileOffset(file, address);
    const bytes = Buffer.alloc(4);
    if (offset !== undefined) source.readInto(bytes, offset);
    return bytes.readInt32LE();
  };
  const values = new Map(
    symbols?.withPrefix('v8dbg_').map((symbol) => [symbol.name.slice(6), number(symbol.address)]),
  );
  change(values);
  const full = findSymbolTable(file, 'full');
  const version = (name: string) => {
    const mangled = `_ZN2v88internal7Version${name}`;
    const symbol = symbols?.find(mangled) ?? full?.find(mangled);
    return symbol ? number(symbol.address) : 0;
  };
  source.close();
  return {
    metadata: new V8Metadata(values),
    version: { major: version('6major_E'), minor: version('6minor_E') },
  };
}

/** How to add a proven row for a V8; undefined if it has one. */
function adviceFor(node: string, { major, minor }: { major: number; minor: number }): string | undefined {
  if (provenLines.has(major * 100 + minor)) return undefined;
  return (
    `V8 ${major}.${minor} has no proven row: run \`npm run v8:row -- ${node}\`, put the row into ` +
    'src/formats/v8/heap/layout-rows.ts and the line with its digest into provenLines, then run the tests of cores'
  );
}

suite('rows of the layout table', {
  skip: nodes.length === 0 ? 'no Node of the matrix is here' : false,
}, () => {
  for (const node of nodes)
    test(`Node ${node.major} has a proven row and describes what the readers need`, () => {
      const { metadata, version } = readMetadata(node.path);
      assert.equal(adviceFor(node.path, version), undefined);
      const layout = findLayout(metadata, version);
      assert.equal(layout?.isProven, true);
      assert.equal(layout?.hasProvenConstants, true, `the digest of its constants is ${metadata.digest()}`);
    });

  for (const node of nodes)
    test(`the constants of Node ${node.major} tell its version, and changed ones tell none`, () => {
      const { metadata, version } = readMetadata(node.path);
      assert.deepEqual(findProvenVersion(metadata), version);
      const changed = readMetadata(node.path, (values) => values.set('SmiTag', 7));
      assert.equal(findProvenVersion(changed.metadata), undefined);
    });

  test('a Node that comes with a new V8 fails the test above, which names the next step', () => {
    const advice = adviceFor('node_modules/node-28/bin/node', { major: 15, minor: 2 });
    assert.match(
      advice ?? '',
      /^V8 15\.2 has no proven row: run `npm run v8:row -- node_modules\/node-28\/bin\/node`/,
    );
  });

  test('a V8 of tomorrow is read with the nearest row, and marked; one of long ago is refused', () => {
    const { metadata } = readMetadata(nodes.at(-1)?.path ?? '');
    assert.equal(findLayout(metadata, { major: 99, minor: 1 })?.isProven, false);
    assert.equal(findLayout(metadata, { major: 9, minor: 4 }), undefined);
  });

  test('a constant that is not as it was tested makes the constants doubtful', () => {
    const { metadata, version } = readMetadata(nodes.at(-1)?.path ?? '', (values) =>
      values.set('bit_field3_is_dictionary_map_shift', 3),
    );
    const layout = findLayout(metadata, version);
    assert.equal(layout?.isProven, true);
    assert.equal(layout?.hasProvenConstants, false);
  });

  test('a V8 that does not describe a field is refused by its name', () => {
    assert.throws(() => findLayout(new V8Metadata(new Map()), { major: 14, minor: 6 }), {
      code: 'unsupported-version',
      message: /does not describe/,
    });
  });

  test('rows stand in the order of their lines', () => {
    const lines = layoutRows.map((row) => row.from);
    assert.deepEqual(
      lines,
      [...lines].sort((a, b) => a - b),
    );
  });
});
