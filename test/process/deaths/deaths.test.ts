/**
 * Every row of the table of deaths has at least two victims, the doctor's and another, and each is run by a test on all Nodes
 * of the run.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { trials } from '../../../src/supervise/doctor/trials.ts';
import { victims } from '../../support/victims/victims.ts';
import { deaths, renderDeaths } from './deaths.ts';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
/** The Nodes of the run are defined in support/run/test-nodes.ts: four in the wide run. */
const onTheNodes = /of findNodes\(\)|of nodes\)|of testNodes\)|of testMajors\)|testMajors\.map/;

test('17 rows, each with two victims', () => {
  const rows = Array.from({ length: 17 }, (_, at) => at + 1);
  assert.deepEqual(
    deaths.map(({ row }) => row),
    rows,
  );
  for (const { row, victims: others } of deaths) {
    const own = trials.filter((trial) => trial.row === row);
    assert.ok(own.length >= 1 && others.length >= 1 && own.length + others.length >= 2, `row ${row}`);
  }
  assert.match(read('../../supervise/doctor/doctor.test.ts'), onTheNodes);
});

for (const { row, death, victims: others } of deaths)
  test(`row ${row}, ${death}: the test is there, runs the victim, and on the Nodes of the run`, () => {
    for (const { program, test: file } of others) {
      const text = read(`../../${file}`);
      assert.match(text, onTheNodes, file);
      assert.doesNotMatch(text, /InTurn/, file);
      const isNamed = file.includes('fidelity')
        ? victims.some((one) => one.file === program)
        : text.includes(program);
      assert.ok(isNamed, `${program} in ${file}`);
    }
  });

test('README.md says the same', () => {
  assert.ok(read('../README.md').includes(renderDeaths()), renderDeaths());
});
