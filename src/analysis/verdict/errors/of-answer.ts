/** Whether an error is a client's for the answer of a service. Any error of a program may have a status. */
import type { ErrorFacts } from '../../../model/account.ts';
import { isOfPreload } from '../../../model/frame-text.ts';

type Properties = NonNullable<ErrorFacts['properties']>;

/** Either it carries the answer, or a package made it and it shows something of the answer or its request. */
export const isOfAnswer = (error: ErrorFacts): boolean => {
  const { name = '', properties = {} } = error;
  if (isToBeAnswered(properties)) return false;
  const isShown = /^api_?error$/i.test(name) || answerFields.some((field) => field in properties);
  return carriesAnswer(properties) || (isShown && isMadeByOthers(error));
};

const answerFields = [
  ...['headers', 'requestID', 'request_id', 'request', 'response', 'config', 'statusText'],
  ...['responseHeaders', 'responseBody', 'rawResponse', '$metadata'],
];

/** What a server is to answer with: http-errors and Nest make such. */
const isToBeAnswered = (properties: Properties): boolean =>
  'expose' in properties || ('response' in properties && 'options' in properties);

/** Also in a program that has its clients bundled into its own file. */
function carriesAnswer(properties: Properties): boolean {
  const isFull = (value: unknown) =>
    isObject(value) && 'headers' in value && ('status' in value || 'statusCode' in value);
  const hasId = 'requestID' in properties || 'request_id' in properties;
  return (
    isFull(properties['response']) ||
    isFull(properties['rawResponse']) ||
    isObject(properties['$metadata']) ||
    'responseHeaders' in properties ||
    ('headers' in properties && hasId)
  );
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** A package or Node made it. Constructors don't count: a program may make an error of a package's class. */
function isMadeByOthers({ frames = [] }: ErrorFacts): boolean {
  const maker = frames.find(({ file, function: name }) => file !== undefined && !name?.startsWith('new '));
  return maker?.file !== undefined && !maker.inApp && !isOfPreload(maker.file);
}
