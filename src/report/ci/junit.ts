/**
 * `junit.xml`: the tests that failed or did not finish, with `[[ATTACHMENT|path]]` lines, which Jenkins' attachments plugin
 * and GitLab read. Tests that passed are in the runner's own report and not repeated here.
 */
import type { CiSummary, CiTest } from '../../model/ci-summary.ts';
import { escapeTerminal } from '../escape-terminal.ts';
import { mapStrings } from '../map-strings.ts';
import { bundleTitle, outcomeText, plain, testReason, testTitle } from './wording.ts';

interface Case {
  file: string;
  name: string;
  seconds: number | undefined;
  kind: 'failure' | 'error';
  message: string;
  text: string;
  attachment: string | undefined;
}

/** `folder`: the report's absolute path, which Jenkins needs for attachments. */
export function renderJunit(given: CiSummary, folder: string): string {
  const summary = mapStrings(given, escapeTerminal);
  const cases = casesOf(summary);
  const files = [...new Set(cases.map(({ file }) => file))];
  const suites = files.map((file) =>
    suite(
      file,
      cases.filter((one) => one.file === file),
      folder,
    ),
  );
  const count = (kind: Case['kind']): number => cases.filter((one) => one.kind === kind).length;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="agentdump" tests="${cases.length}" failures="${count('failure')}" errors="${count('error')}">`,
    ...suites.flat(),
    '</testsuites>',
    '',
  ].join('\n');
}

function casesOf(summary: CiSummary): Case[] {
  const ofTests = summary.tests.telling.map((test) => caseOfTest(test, summary));
  const named = new Set(summary.tests.telling.map(({ bundle }) => bundle));
  const others = summary.bundles
    .filter(({ name }) => !named.has(name))
    .map((bundle): Case => {
      const { test } = bundle;
      return {
        file: test?.file ?? 'processes',
        name: test ? testTitle(test) : `process ${bundle.pid ?? ''}`.trim(),
        seconds: undefined,
        kind: 'error',
        message: bundleTitle(bundle),
        text: bundle.summary ?? '',
        attachment: bundle.name,
      };
    });
  const all = [...ofTests, ...others];
  if (all.length) return all;
  const message = outcomeText(summary);
  const name = summary.command.join(' ');
  return [{ file: 'run', name, seconds: undefined, kind: 'error', message, text: '', attachment: undefined }];
}

function caseOfTest(test: CiTest, { bundles }: CiSummary): Case {
  const bundle = bundles.find(({ name }) => name === test.bundle);
  return {
    file: test.file ?? test.runner ?? 'tests',
    name: testTitle(test),
    seconds: test.durationMs === undefined ? undefined : test.durationMs / 1_000,
    kind: test.status === 'failed' ? 'failure' : 'error',
    message: testReason(test, bundle),
    text: [bundle?.summary, plain(test.error?.stackText ?? test.error?.message ?? '')]
      .filter(Boolean)
      .join('\n\n'),
    attachment: test.bundle,
  };
}

function suite(file: string, cases: readonly Case[], folder: string): string[] {
  const count = (kind: Case['kind']): number => cases.filter((one) => one.kind === kind).length;
  return [
    `  <testsuite name="${escapeXml(file)}" tests="${cases.length}" failures="${count('failure')}" errors="${count('error')}">`,
    ...cases.flatMap((one) => testcase(one, folder)),
    '  </testsuite>',
  ];
}

function testcase({ file, name, seconds, kind, message, text, attachment }: Case, folder: string): string[] {
  const time = seconds === undefined ? '' : ` time="${seconds.toFixed(3)}"`;
  const attached =
    attachment === undefined
      ? []
      : [`      <system-out>[[ATTACHMENT|${escapeXml(`${folder}/bundles/${attachment}`)}]]</system-out>`];
  return [
    `    <testcase classname="${escapeXml(file)}" name="${escapeXml(name)}" file="${escapeXml(file)}"${time}>`,
    `      <${kind} message="${escapeXml(message)}">${escapeXml(text)}</${kind}>`,
    ...attached,
    '    </testcase>',
  ];
}

/** escapeTerminal has escaped what XML 1.0 can't contain. An attachment line that a program has forged is broken up. */
function escapeXml(text: string): string {
  return text
    .replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)
    .replace(/\[\[(?=ATTACHMENT)/gi, '[&#8203;[')
    .replace(/[\n\t]/g, (c) => `&#${c.charCodeAt(0)};`);
}
