/**
 * Completes a query at the cursor: classes and types where one is expected, properties of the class that the query is about,
 * and words of the language elsewhere.
 */
import {
  aggregateNames,
  functionNames,
  queryFields,
  relationNames,
} from '../../analysis/memory/query/syntax.ts';
import { tokenize } from '../../analysis/memory/query/tokens.ts';
import type { Completion, CompletionOption } from './questions.ts';

/** What an open heap has names for. */
export interface HeapNames {
  /** Those that retain most come first. */
  classes: readonly string[];
  types: readonly string[];
  propertiesOf(className: string): readonly string[];
}

const mostOptions = 10;

const wordsOfLanguage: readonly CompletionOption[] = [
  ...queryFields.map((text) => ({ text, what: 'field' })),
  ...[...aggregateNames, ...functionNames].map((name) => ({ text: `${name}()`, what: 'function' })),
  ...['from', 'where', 'select', 'select distinct', 'group by', 'having', 'order by', 'limit'].map(
    (text) => ({
      text,
      what: 'clause',
    }),
  ),
  ...[
    'and',
    'or',
    'not',
    'in',
    'between',
    'is null',
    'like',
    'ilike',
    'glob',
    'has',
    'as',
    'asc',
    'desc',
  ].map((text) => ({ text, what: 'operator' })),
  ...relationNames.map((text) => ({ text, what: 'relation' })),
];

/** What is being typed: the end of a quoted text, of a property's name, or of a word. */
const ending =
  /(?<quote>["'])(?<quoted>.*)$|\.(?<property>[\p{ID_Continue}$]*)$|(?<word>[^\s=<>!~(),"'+*/%[\].-]*)$/su;
/** One that is closed. */
const quotedText = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/gsu;
const beforeClass = /(?:\bfrom|\bclass\s*(?:!?=|in\s*\((?:[^()]*,)?))\s*$/iu;
const beforeType = /\btype\s*(?:!?=|in\s*\((?:[^()]*,)?)\s*$/iu;
/** In a query whose quoted texts are blank. */
const namedClass = /(?:\bfrom|\bclass\s*=)\s*(?<name>"_*"|'_*'|[^\s=<>!~(),"'+*/%[\].-]+)/iu;

export function completeQuery(text: string, caret: number, names: HeapNames): Completion {
  const before = text.slice(0, caret);
  // A quote, a bracket or a comma within a closed text is none of the query's.
  const open = before.replace(quotedText, (text) => '_'.repeat(text.length));
  const { quote, quoted, property, word = '' } = ending.exec(open)?.groups ?? {};
  const begun = before.slice(caret - (quoted ?? property ?? word).length);
  const from = caret - begun.length - (quote ? 1 : 0);
  const offer = (options: readonly CompletionOption[]): Completion => ({
    from,
    to: caret,
    options: matching(options, begun),
  });
  const place = open.slice(0, from);
  if (property === undefined && beforeClass.test(place)) return offer(named(names.classes, 'class'));
  if (property === undefined && beforeType.test(place)) return offer(named(names.types, 'type'));
  if (quote) return offer([]);
  if (property !== undefined) {
    const about = classOf(text);
    const known = about === undefined ? [] : names.propertiesOf(about);
    return offer(known.map((name) => ({ text: name, what: 'property' })));
  }
  return word === '' ? offer([]) : offer(wordsOfLanguage);
}

/** The class that a query is about: none that it only mentions in a text. */
function classOf(text: string): string | undefined {
  const blank = text.replace(quotedText, (one) => one[0] + '_'.repeat(one.length - 2) + one[0]);
  const found = namedClass.exec(blank);
  if (!found?.groups?.['name']) return undefined;
  const end = found.index + found[0].length;
  const name = text.slice(end - found.groups['name'].length, end);
  return /^["']/.test(name) ? name.slice(1, -1).replace(/\\(.)/gsu, '$1') : name;
}

/** Those that begin with what was typed, then those that contain it; not what is there in full already. */
function matching(options: readonly CompletionOption[], begun: string): CompletionOption[] {
  const wanted = begun.toLowerCase();
  const bare = ({ text }: CompletionOption) => text.toLowerCase().replace(/^"/, '');
  const first: CompletionOption[] = [];
  const others: CompletionOption[] = [];
  for (const option of options) {
    const at = bare(option).indexOf(wanted);
    if (at === 0) first.push(option);
    else if (at > 0 && wanted.length > 1) others.push(option);
    if (first.length === mostOptions) break;
  }
  const all = [...first, ...others].slice(0, mostOptions);
  return all.length === 1 && all[0]?.text === begun ? [] : all;
}

const named = (names: readonly string[], what: string): CompletionOption[] =>
  names.map((name) => ({ text: spelled(name), what }));

/** As it is, or in quotes where it would be read as something else. */
function spelled(name: string): string {
  try {
    const [token, ...more] = tokenize(name);
    if (token?.kind === 'word' && more.length === 0 && token.text === name) return name;
  } catch {
    // No token begins like this.
  }
  return `"${name.replace(/["\\]/g, '\\$&')}"`;
}
