/**
 * The records in the journal of a resumable run (the frame of records is specified in journal/FORMAT.md). A call is
 * identified by its key (a hash of the request, keyed with the host's key if there is one) and by the number of earlier calls
 * with the same key. Payloads are JSON texts.
 */
export const resumeKinds = { reply: 1040, toolStart: 1041, toolEnd: 1042 } as const;

export interface CallKey {
  /** 32 hexadecimal digits. */
  key: string;
  /** 0 for the first call with this key. */
  turn: number;
}

export interface ReplyRecord extends CallKey {
  status: number;
  headers: [name: string, value: string][];
  /** Base64 if it is not UTF-8. */
  body: { text: string } | { base64: string };
}

export interface ToolStartRecord extends CallKey {
  name: string;
  arguments: unknown;
}

export interface ToolEndRecord extends CallKey {
  /** Absent for undefined. */
  result?: unknown;
  error?: { name: string; message: string };
}

/** A record of an encrypted run: everything except the call key is encrypted as JSON, in base64. */
export interface SealedRecord extends CallKey {
  sealed: string;
}
