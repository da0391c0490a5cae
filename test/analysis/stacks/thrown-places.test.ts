/** Which expressions of a script can throw a value that is no error. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: programs that contain templates
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findThrownPlaces, type ThrownValue } from '../../../src/analysis/stacks/thrown-places.ts';

const text = (said: string): ThrownValue => ({ type: 'string', text: said });
const object = (fields: Record<string, unknown>, className = 'Object'): ThrownValue => ({
  type: 'object',
  className,
  fields,
});

/** `!` before a line that gives the value, `?` before one that may pass it on. */
async function found(program: string, value: ThrownValue): Promise<string> {
  const places = await findThrownPlaces(program, 'commonjs', value);
  return (places ?? []).map(({ line, gives }) => `${gives ? '!' : '?'}${line}`).join(' ');
}

const cases: [name: string, program: string, value: ThrownValue, places: string][] = [
  ['the same text', `throw 'no';\nthrow 'yes';`, text('no'), '!1'],
  ['an error is never it', `throw new Error('no');`, text('no'), ''],
  ['a template', 'throw `no seat ${id} left`;\nthrow `no table ${id} left`;', text('no seat 7 left'), '!1'],
  ['a template of values only', 'throw `${a}${b}`;', text('no'), '?1'],
  ['a sum', `throw 'no ' + what + ' left';\nthrow 'no ' + 1;`, text('no seat left'), '!1'],
  ['signs of patterns are text', `throw 'a.b' + c;`, text('axbc'), ''],
  ['a choice', `throw late ? 'late' : 'no';`, text('no'), '!1'],
  ['a fallback', `throw said || 'no';`, text('no'), '!1'],
  ['a value from elsewhere', `try {} catch (e) { throw e; }\nthrow make();`, text('no'), '?1 ?2'],
  [
    'an error that was made elsewhere',
    `read((error) => { if (error) throw error; });\nthrow new Error('own');\nconst made = Object.assign(new Error('own'), {}); throw made;\nthrow result.error ?? reason;\nPromise.reject(error); throw 'text';`,
    "another's error",
    '?1 ?4',
  ],
  [
    'an error of another function, by the name of one that is made',
    `function own() {\nconst err = new Error();\nthrow err;\n}\nfs.readFile(x, (err) => {\nif (err) throw err;\n});\nthrow (this.last = err);`,
    "another's error",
    '?6 ?8',
  ],
  [
    'a made error that a block hides, or that can be replaced',
    `const e = new Error();\ntry {\nthrow e;\n} catch (e) {\nthrow e;\n}\nlet later = new Error();\nthrow later;\n{\nlet e = given;\nthrow e;\n}`,
    "another's error",
    '?5 ?8 ?11',
  ],
  [
    'every form of expression that can pass an error on',
    `function* f() {\nthrow (a, b);\nthrow a?.b;\nthrow yield;\nthrow a ? b : new Error();\nthrow mark(new Map(), e);\nthrow tag\`\`;\nthrow (a ??= new Error());\nthrow this;\n}`,
    "another's error",
    '?2 ?3 ?4 ?5 ?6 ?7 ?8 ?9',
  ],
  [
    'every form of expression that makes what it throws',
    `throw (log(), new Error());\nthrow (last = new Error());\nthrow a ? new Error() : new TypeError();\nthrow Error('x');\nthrow {};\nswitch (a) { case 1: const made = Object.assign(Error(), {}); throw made; }`,
    "another's error",
    '',
  ],
  ['a number', `throw 7;\nthrow '7';`, { type: 'number', text: '7' }, '!1'],
  ['undefined', `throw undefined;\nPromise.reject();`, { type: 'undefined', text: 'undefined' }, '!1 !2'],
  ['null', `throw null;\nthrow 'null';`, { type: 'null', text: 'null' }, '!1'],
  ['an object', `throw { code: 1, at };\nthrow { code: 2, at };`, object({ code: 1, at: 'x' }), '!1'],
  [
    'an object with other fields',
    `throw { code: 1 };\nthrow { code: 1, a: 2, b: 3 };`,
    object({ code: 1, a: 2 }),
    '',
  ],
  ['an object that is spread', `throw { ...given, code: 1 };`, object({ code: 1, a: 2 }), '?1'],
  [
    'an object of a class',
    `throw new Refusal(1);\nthrow new Other();\nthrow { code: 1 };`,
    object({ code: 1 }, 'Refusal'),
    '!1',
  ],
  ['text is no object', `throw 'no';`, object({ code: 1 }), ''],
  ['the reason of an abort', `control.abort();\ncontrol.abort('no');`, text('no'), '!2'],
  ['an executor', `new Promise((yes, no) => {\nyes('no');\nno('no');\n});\nno('no');`, text('no'), '!3'],
  ['a function that happens to be called reject', `reject('no');`, text('no'), ''],
];

for (const [name, program, value, places] of cases)
  test(name, async () => assert.equal(await found(program, value), places));

test('a text that is no JavaScript has no places', async () => {
  assert.equal(await findThrownPlaces('throw [withheld: a b] (', 'commonjs', text('no')), undefined);
});
