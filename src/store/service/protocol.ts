/** What the service and its clients say to each other: HTTP/1.1, JSON, and bundles as they were packed. */
import type { CountedStarts } from '../../bundle/keep/starts.ts';
import type { Issue, SendOutcome } from '../../model/fleet/issue.ts';

/** Each includes what the one before may not: `manage` may also read. */
export const rights = ['send', 'read', 'manage'] as const;
export type Right = (typeof rights)[number];

/** A packed bundle that a client wants to upload. */
export interface Offer {
  /** Of the file, in hexadecimal. */
  sha256: string;
  bytes: number;
  /** The file's name, which describes an encrypted bundle. */
  name: string;
  /** Of a bundle that is not encrypted: its id, and the SHA-256 of its manifest. */
  bundle?: string;
  digest?: string;
  /** The program whose start it ended, if that was counted. */
  startedAs?: string;
}

/** What a dump folder has counted. If a row has not the form, the others are counted, and the answer is a refusal. */
export interface StartsReport {
  starts: CountedStarts[];
}

/**
 * `offset`: so many of its bytes are there already. If it is all of them, the upload is still being examined: an upload of
 * nothing from there on asks for the outcome again, so that no request stays unanswered longer than proxies wait.
 */
export type UploadAnswer = SendOutcome | { offset: number };

export interface IssuesAnswer {
  issues: Issue[];
  /** The number of deaths that older rules have grouped. */
  outdated: number;
}

/** The issues that a decision has left. */
export interface DecidedAnswer {
  issues: string[];
}

/** An answer whose form is not known yet. The functions below look at what a client computes with. */
export type Fields = Readonly<Record<string, unknown>>;

export const isUploadAnswer = ({ offset, outcome }: Fields): boolean =>
  (Number.isSafeInteger(offset) && Number(offset) >= 0) ||
  outcome === 'stored' ||
  outcome === 'there' ||
  outcome === 'refused';
export const isIssuesAnswer = ({ issues, outdated }: Fields): boolean =>
  Array.isArray(issues) && typeof outdated === 'number';
export const isDecidedAnswer = ({ issues }: Fields): boolean => Array.isArray(issues);
export const isStory = ({ id, deaths }: Fields): boolean =>
  typeof id === 'string' && Array.isArray(deaths) && deaths.every(isDeath);

/** `path` is resolved against the service's address. */
function isDeath(death: unknown): boolean {
  if (typeof death !== 'object' || death === null) return false;
  const { path } = death as Fields;
  return path === undefined || (typeof path === 'string' && URL.canParse(path, 'http://x/'));
}

/** Why a request is refused, where no error code of ours says it. */
export type RefusalCode =
  | 'bad-address'
  | 'token-missing'
  | 'token-invalid'
  | 'not-allowed'
  | 'no-such-address'
  | 'limit-reached'
  | 'no-room';

/** `code`: a `RefusalCode`, an error code of ours, or `internal` for a failure of the service that only its operator is told of. */
export interface Failure {
  error: { code: string; message: string };
}

/** The position of the first byte of an upload's body. */
export const offsetHeader = 'upload-offset';
export const mostJsonBytes = 64 * 1024;

export const paths = {
  health: '/health',
  offers: '/v1/offers',
  starts: '/v1/starts',
  uploads: '/v1/uploads/',
  issues: '/v1/issues',
  bundles: '/v1/bundles/',
} as const;
