/** Command lines: linters, compilers, bundlers, test runners, generators. Each does some work, and encounters some faults. */
import type { Program } from './program.ts';
import { usesOfNode } from './uses.ts';

/** One command line: its package and name, and the arguments of each call as a line. */
interface Tool {
  package: string;
  bin?: string;
  calls: readonly (string | readonly [words: string, more: Partial<Program>])[];
}

const tools: readonly Tool[] = [
  {
    package: 'eslint',
    calls: [
      'src/index.js',
      'src',
      'src/broken.js',
      'not-there.js',
      '--format json src/faults.js',
      '--fix src/faults.js',
      '--version',
      ['--stdin', { stdin: 'var a = b == 1;\n' }],
    ],
  },
  {
    package: 'prettier',
    calls: [
      '--check src/index.js',
      '--check src/faults.js',
      'src/faults.js',
      'src/broken.js',
      '--write src styles docs data/page.json',
      '--no-such-option x',
      ['--parser babel', { stdin: 'a = {b:1}' }],
    ],
  },
  {
    package: 'typescript',
    bin: 'tsc',
    calls: [
      '-p .',
      '--noEmit --strict ts/wrong.ts',
      '--noEmit not-there.ts',
      '--init',
      '--declaration --emitDeclarationOnly --outDir out ts/shapes.ts',
      '--no-such-option',
    ],
  },
  {
    package: '@babel/cli',
    bin: 'babel',
    calls: ['src/es/shapes.mjs', 'src/math.js --out-dir out', 'src/broken.js', 'not-there.js'],
  },
  {
    package: 'esbuild',
    calls: [
      'src/es/main.mjs --bundle --minify',
      'src/broken.js',
      'ts/main.ts --bundle --sourcemap --outfile=out/main.js',
      'not-there.js --bundle',
    ],
  },
  {
    package: 'rollup',
    calls: [
      'src/es/main.mjs --format cjs',
      'src/es/main.mjs --format es --file out/main.mjs --sourcemap',
      'src/broken.js',
      'not-there.mjs',
    ],
  },
  {
    package: 'webpack-cli',
    calls: ['', '--mode development --entry ./src/broken.js', '--entry ./not-there.js', '--no-such-option'],
  },
  {
    package: 'vite',
    calls: ['build web --logLevel warn --minify esbuild', 'build web --outDir ../out', 'build not-there'],
  },
  { package: 'browserify', calls: ['src/index.js', 'src/missing.js', 'src/broken.js'] },
  {
    package: 'mocha',
    calls: [
      'tests/mocha/some.cjs',
      '--parallel tests/mocha/some.cjs tests/mocha/late.cjs',
      'tests/mocha/late.cjs',
      'tests/mocha/rejects.cjs',
      '--reporter json tests/mocha/some.cjs',
      'not-there',
      '--exit tests/mocha/some.cjs',
      '--bail --reporter dot tests/mocha/some.cjs',
    ],
  },
  {
    package: 'jest',
    calls: [
      'tests/jest/some.test.js',
      'tests/jest/exits.test.js',
      'tests/jest/late.test.js',
      '--runInBand tests/jest/some.test.js',
      '--listTests',
      '--ci tests/jest/some.test.js --json',
      '--coverage tests/jest/some.test.js',
      'not-there',
    ],
  },
  {
    package: 'vitest',
    calls: [
      'run tests/vitest/some.test.js',
      'run tests/vitest/late.test.js',
      'run --pool threads tests/vitest/some.test.js',
      'run --reporter json tests/vitest/some.test.js',
      'list tests/vitest',
      'run not-there',
    ],
  },
  {
    package: 'ava',
    calls: ['', '--tap', 'tests/ava/some.cjs', 'not-there.cjs', '--worker-threads=false tests/ava/late.cjs'],
  },
  { package: 'uvu', calls: ['tests/uvu', '-b tests/uvu', 'not-there'] },
  { package: 'jasmine', calls: ['--random=false tests/jasmine/some.spec.cjs', 'not-there', 'init'] },
  { package: 'qunit', calls: ['tests/qunit/some.cjs', '--reporter tap tests/qunit/some.cjs', 'not-there'] },
  {
    package: 'c8',
    calls: [
      'node src/index.js 1 2',
      '--reporter json node src/index.js 4',
      '--check-coverage --lines 100 node src/index.js 1',
      'node src/throws.js',
    ],
  },
  {
    package: 'nyc',
    calls: ['node src/index.js 1 2', '--reporter json node src/index.js 4', 'node src/rejects.js'],
  },
  { package: 'standard', calls: ['src/index.js', 'src/faults.js', '--fix src/faults.js'] },
  { package: 'jshint', calls: ['src/index.js', 'src/faults.js', 'src/broken.js', 'not-there.js'] },
  {
    package: 'stylelint',
    calls: [
      'styles/main.css',
      'styles/wrong.css',
      '--formatter json styles/main.css',
      '--fix styles/main.css',
    ],
  },
  {
    package: 'markdownlint-cli',
    bin: 'markdownlint',
    calls: ['docs/good.md', 'docs/faults.md', '--fix docs/faults.md', 'not-there.md'],
  },
  { package: 'oxlint', calls: ['src', 'src/broken.js', '--format json src/faults.js'] },
  {
    package: '@biomejs/biome',
    bin: 'biome',
    calls: [
      ['lint src', { files: { 'biome.json': '{ "root": true }\n' } }],
      ['format src/faults.js', { files: { 'biome.json': '{ "root": true }\n' } }],
    ],
  },
  {
    package: 'terser',
    calls: [
      'src/math.js --compress --mangle',
      'src/broken.js',
      'not-there.js',
      ['--toplevel -c -m', { stdin: 'const a = 1; console.log(a + 1);' }],
    ],
  },
  {
    package: 'uglify-js',
    bin: 'uglifyjs',
    calls: ['src/math.js -c -m', 'src/broken.js', ['-b', { stdin: 'var a=1;if(a)console.log(a)' }]],
  },
  {
    package: 'less',
    bin: 'lessc',
    calls: ['styles/main.less', 'styles/main.less out/main.css', 'styles/wrong.less', 'not-there.less'],
  },
  {
    package: 'sass',
    calls: [
      'styles/main.scss',
      'styles/main.scss out/main.css',
      'styles/wrong.scss',
      'not-there.scss',
      ['--stdin', { stdin: 'a { b { c: 1px + 2px } }' }],
    ],
  },
  {
    package: 'postcss-cli',
    bin: 'postcss',
    calls: ['styles/main.css --no-map', 'styles/main.css -d out', 'styles/wrong.css --no-map'],
  },
  {
    package: 'clean-css-cli',
    bin: 'cleancss',
    calls: ['styles/main.css', '-O2 styles/main.css -o out.css', 'not-there.css'],
  },
  { package: 'tailwindcss', calls: ['-i styles/tailwind.css --content web/index.html', 'init'] },
  {
    package: 'html-minifier-terser',
    calls: ['--collapse-whitespace --remove-comments web/index.html', 'not-there.html'],
  },
  { package: 'svgo', calls: ['data/icon.svg -o -', 'data/icon.svg -o out.svg', 'not-there.svg'] },
  { package: 'tsx', calls: ['ts/main.ts', 'ts/throws.ts', 'ts/wrong.ts', 'not-there.ts'] },
  { package: 'ts-node', calls: ['ts/main.ts', 'ts/throws.ts', 'ts/wrong.ts', ['-T ts/throws.ts', {}]] },
  { package: 'typedoc', calls: ['--entryPoints ts/shapes.ts --json out.json', '--entryPoints not-there.ts'] },
  { package: 'jsdoc', calls: ['-X src/math.js', 'not-there.js'] },
  { package: 'ejs', calls: ['docs/page.ejs -f data/page.json', 'docs/wrong.ejs', 'not-there.ejs'] },
  { package: 'handlebars', calls: ['docs/page.hbs', 'docs/wrong.hbs', 'not-there.hbs'] },
  { package: 'mustache', calls: ['data/page.json docs/page.mustache', 'data/wrong.json docs/page.mustache'] },
  { package: 'nunjucks', bin: 'nunjucks-precompile', calls: ['docs/page.njk', 'not-there.njk'] },
  { package: 'marked', calls: ['-i docs/good.md', ['', { stdin: '# From *stdin*\n' }], '-i not-there.md'] },
  {
    package: 'js-yaml',
    calls: ['data/page.yaml', 'data/wrong.yaml', 'not-there.yaml', ['-', { stdin: 'a: [1, 2]' }]],
  },
  {
    package: 'ajv-cli',
    bin: 'ajv',
    calls: [
      'validate -s data/schema.json -d data/page.json',
      'validate -s data/schema.json -d data/invalid.json',
      'compile -s data/schema.json',
      'validate -s not-there.json -d data/page.json',
    ],
  },
  { package: 'semver', calls: ['1.2.3 -r ^1.0.0', '1.2.3 -i minor', '1.2.3 -r ^2.0.0', 'not-a-version'] },
  { package: 'mkdirp', calls: ['out/a/b', '-p out/c', 'package.json/below'] },
  { package: 'rimraf', calls: ['src', '--glob src/*.js', 'not-there', '--no-such-option'] },
  {
    package: 'shx',
    calls: ['ls src', 'cp -r src out', 'rm not-there', 'echo hello', 'grep add src/math.js'],
  },
  { package: 'cpy-cli', bin: 'cpy', calls: ['src/*.js out', 'not-there.js out'] },
  { package: 'del-cli', bin: 'del', calls: ['src/*.js', '--dry-run src/**'] },
  { package: 'nanoid', calls: ['--size 10', '--alphabet abc --size 5', '--no-such-option'] },
  { package: 'uuid', calls: ['v4', 'v5 hello URL', 'v9'] },
  {
    package: 'acorn',
    calls: ['--compact src/math.js', 'src/broken.js', ['--ecma2020', { stdin: 'let a = 1 ?? 2;' }]],
  },
  { package: 'esprima', bin: 'esparse', calls: ['src/math.js', 'src/broken.js'] },
  { package: 'escodegen', bin: 'esgenerate', calls: ['data/page.json', 'not-there.json'] },
  {
    package: 'jscodeshift',
    calls: [
      '-t codemod.js src/index.js',
      '-t codemod.js --dry --print --run-in-band src/index.js',
      '-t not-there.js src/index.js',
    ],
  },
  { package: 'depcheck', calls: ['. --skip-missing', '. --json', 'not-there'] },
  { package: 'madge', calls: ['src/index.js', '--json src/index.js', '--circular src', 'not-there'] },
  {
    package: 'dependency-cruiser',
    bin: 'depcruise',
    calls: ['--no-config src', '--no-config --output-type json src/index.js', 'not-there'],
  },
  { package: 'license-checker', calls: ['--summary', '--json', '--failOn MIT'] },
  { package: 'sort-package-json', calls: ['', '--check', 'not-there.json'] },
  { package: 'publint', calls: ['', 'not-there'] },
  { package: 'knip', calls: ['--no-progress', '--reporter json'] },
  {
    package: 'npm-run-all2',
    bin: 'run-s',
    calls: ['part:one part:two', 'hello exit-three part:one', 'no-such-script'],
  },
  { package: 'npm-run-all2 (parallel)', bin: 'run-p', calls: ['hello throws', 'part:*'] },
  {
    package: 'concurrently',
    calls: [
      '--raw node:src/index.js',
      ['-n a,b "node src/index.js 1" "node src/throws.js"', {}],
      ['--kill-others-on-fail "node src/rejects.js" "node -e setTimeout(()=>{},20000)"', {}],
      ['--success first "node src/index.js 2" "node src/index.js 3"', {}],
    ],
  },
  {
    package: 'cross-env',
    calls: [
      'A=1 node -p process.env.A',
      'node src/throws.js',
      'node -e process.exit(9)',
      ['node -e process.kill(process.pid,"SIGTERM");setTimeout(()=>{},1e4)', {}],
    ],
  },
  { package: 'gulp', calls: ['', 'fails', 'no-such-task', '--tasks'] },
  { package: 'grunt', calls: ['', 'fails', 'no-such-task', '--help'] },
  {
    package: 'peggy',
    calls: ['-o - data/sum.pegjs', '--test 1+2 data/sum.pegjs', '--test x data/sum.pegjs', 'not-there.pegjs'],
  },
  {
    package: 'json-schema-to-typescript',
    bin: 'json2ts',
    calls: ['-i data/schema.json', '-i data/wrong.json'],
  },
  { package: 'openapi-typescript', calls: ['data/openapi.yaml', 'not-there.yaml', 'data/page.yaml'] },
  { package: '@swc/cli', bin: 'swc', calls: ['ts/main.ts', 'src -d out', 'src/broken.js'] },
  { package: 'livescript', bin: 'lsc', calls: ['src/script.ls', '-cp src/script.ls', 'src/broken.js'] },
  {
    package: 'zx',
    calls: [
      ['--quiet', { stdin: 'await $`exit 3`' }],
      [
        'script.mjs',
        {
          files: {
            'script.mjs':
              'const { stdout } = await $`echo hello`; console.log(stdout.trim()); await $`exit 5`;\n',
          },
        },
      ],
      '--version',
      'not-there.mjs',
    ],
  },
  { package: 'cowsay', calls: ['hello', '-f tux hello', '-l'] },
  { package: 'figlet-cli', bin: 'figlet', calls: ['hello'] },
  { package: 'chalk-cli', bin: 'chalk', calls: ['red bold hello', '--no-such'] },
  {
    package: 'pino-pretty',
    calls: [
      ['', { stdin: '{"level":30,"time":1577836800000,"msg":"started","pid":7,"hostname":"h"}\nnot json\n' }],
      ['--no-such-option', { stdin: '' }],
    ],
  },
  {
    package: 'bunyan',
    calls: ['data/log.ndjson', '-o short data/log.ndjson', '-l error data/log.ndjson', 'not-there.log'],
  },
  { package: 'cloc', calls: ['--version'] },
  { package: 'syncpack', calls: ['list', 'format --check'] },
  {
    package: 'coffeescript',
    bin: 'package:coffeescript/bin/coffee',
    calls: ['src/script.coffee', '-cp src/script.coffee', 'src/broken.js'],
  },
];

/** Words as in a shell: double quotes protect spaces. */
const wordsOf = (line: string): string[] =>
  (line.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replace(/^"([^"]*)"$/, '$1'));

export function listTools(): Program[] {
  return [...listCommandLines(), ...usesOfNode];
}

function listCommandLines(): Program[] {
  return tools.flatMap(({ package: of, bin = of, calls }) =>
    calls.map((call): Program => {
      const [line, more] = typeof call === 'string' ? [call, {}] : call;
      const command = bin.startsWith('package:') ? bin : `bin:${bin}`;
      return {
        name: `${of} ${line}`.trim(),
        package: of.replace(/ .*/, ''),
        room: 'tools',
        copy: 'project',
        words: [command, ...wordsOf(line)],
        ...more,
      };
    }),
  );
}
