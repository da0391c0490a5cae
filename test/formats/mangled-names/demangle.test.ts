import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { FileSource } from '../../../src/bytes/byte-source.ts';
import { readElf } from '../../../src/formats/elf/elf-file.ts';
import { findSymbolTable } from '../../../src/formats/elf/symbols.ts';
import { demangle } from '../../../src/formats/mangled-names/demangle.ts';
import { nodes } from '../../support/cores/core-victims.ts';
import { fuzzRuns } from '../../support/run/fuzz-runs.ts';

suite('demangling', () => {
  const cases: [string, string][] = [
    ['_ZN4node5StartEiPPc', 'node::Start(int, char**)'],
    ['_ZNK2v85Value8IsObjectEv', 'v8::Value::IsObject() const'],
    ['_ZN2v88internal7IsolateC1Ev', 'v8::internal::Isolate::Isolate()'],
    ['_ZN2v88internal7IsolateD2Ev', 'v8::internal::Isolate::~Isolate()'],
    [
      '_ZN4node12_GLOBAL__N_119DefaultAbortHandlerEPKcS2_',
      'node::(anonymous namespace)::DefaultAbortHandler(char const*, char const*)',
    ],
    ['_Z3addIiEvT_', 'void add<int>(int)'],
    ['_ZN1aplERKS_', 'a::operator+(a const&)'],
    ['_Z1fPFviEPA3_i', 'f(void (*)(int), int (*) [3])'],
    ['_ZTVN4node11EnvironmentE', 'vtable for node::Environment'],
    ['_ZZN1a1bEvENKUlvE_clEv', 'a::b()::{lambda()#1}::operator()() const'],
    ['_Z1fi.cold', 'f(int) [clone .cold]'],
    ['_ZN4core3ptr22drop_in_place$LT$T$GT$17h0123456789abcdefE', 'core::ptr::drop_in_place<T>'],
    ['_ZSt4swapIiEvRT_S1_', 'void std::swap<int>(int&, int&)'],
  ];
  for (const [mangled, wanted] of cases)
    test(mangled, () => {
      assert.equal(demangle(mangled), wanted);
    });

  test('what is no mangled name stays', () => {
    for (const name of ['uv_kill', '_Z', '_ZN', '_ZNE', 'Builtins_JSEntry', `_ZN${'1a'.repeat(5000)}E`])
      assert.equal(demangle(name), name);
  });

  test('hostile: any text, and nests of types, end soon', () => {
    const letters = fc.array(fc.constantFrom(...'NEKPRIJTSLXDFAv0123456789_abcxSt'.split('')), {
      maxLength: 80,
    });
    fc.assert(
      fc.property(letters, (list) => {
        assert.equal(typeof demangle(`_Z${list.join('')}`), 'string');
      }),
      { numRuns: fuzzRuns(5000) },
    );
    assert.equal(typeof demangle(`_Z1f${'P'.repeat(8000)}i`), 'string');
    assert.equal(typeof demangle(`_Z1fI${'JS0_S0_E'.repeat(500)}`), 'string');
  });

  const noFilt = spawnSync('c++filt', ['--version']).status === 0 ? false : 'c++filt is not installed';
  test('nine names of ten are those of c++filt', {
    skip: noFilt || (nodes.length ? false : 'no Node'),
  }, () => {
    const source = new FileSource(nodes.at(-1)?.path ?? '');
    const names = [];
    const table = findSymbolTable(readElf(source), 'full');
    for (let row = 0; table && row < table.count; row += 23) names.push(table.symbol(row).name);
    source.close();
    const mangled = names.filter((name) => name.startsWith('_Z') && !/17h[0-9a-f]{16}E/.test(name));
    const { stdout } = spawnSync('c++filt', {
      input: mangled.join('\n'),
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    });
    const wanted = stdout.split('\n');
    const same = mangled.filter((name, i) => demangle(name) === wanted[i]).length;
    assert.ok(mangled.length > 3000);
    assert.ok(same / mangled.length > 0.9, `${same} of ${mangled.length}`);
  });
});
