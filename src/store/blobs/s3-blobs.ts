/**
 * Blobs in an S3-compatible bucket, through the AWS SDK, an optional peer dependency that is loaded only here. Keys, region
 * and endpoint come from the AWS variables, files and roles that the SDK reads. An object becomes visible with its last byte.
 */
import { createWriteStream, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import { AgentdumpError } from '../../errors.ts';
import type { Blobs } from './blobs.ts';
import { openDrafts } from './drafts.ts';

/** A larger file is uploaded in parts of this size, each of which the SDK can retry. S3 takes parts of 5 MiB to 5 GiB. */
const partBytes = 16 * 1024 ** 2;

type Sdk = typeof import('@aws-sdk/client-s3');

/** A bucket, and a prefix that is empty or ends in a slash. */
export interface S3Place {
  bucket: string;
  prefix: string;
}

/** Undefined for what does not begin with `s3://`. Throws `usage` if it names no bucket. */
export function readS3Place(text: string): S3Place | undefined {
  const found = /^s3:\/\/([^/]*)\/*(.*?)\/*$/i.exec(text);
  if (!found) return undefined;
  const [, bucket = '', path = ''] = found;
  // The names that S3 allows, and underscores, which older buckets and other servers have.
  if (!/^[a-z0-9][a-z0-9._-]{1,254}$/i.test(bucket))
    throw new AgentdumpError('usage', `${text} names no bucket: s3://bucket/prefix`, { argument: 'store' });
  return { bucket, prefix: path && `${path}/` };
}

/** A connection on which nothing comes for so long is given up; the SDK tries three times. Of itself it has no limit. */
const usualSilentMs = 30_000;

/** Throws `usage` without the SDK, and `unwritable` if the bucket can't be reached. */
export async function openS3Blobs(
  { bucket, prefix }: S3Place,
  { silentMs = usualSilentMs }: { silentMs?: number } = {},
): Promise<Blobs> {
  const sdk = await importSdk();
  const place = `s3://${bucket}/${prefix}`;
  const client = new sdk.S3Client({
    ...configOf(process.env),
    requestHandler: { connectionTimeout: silentMs, socketTimeout: silentMs },
  });
  const copies = new Set<string>();
  const object = (name: string) => ({ Bucket: bucket, Key: `${prefix}${name}` });
  const locate = (name: string) => `${place}${name}`;
  const ask = async <Result>(question: () => Promise<Result>): Promise<Result> => {
    try {
      return await question();
    } catch (error) {
      throw failureOf(place, error);
    }
  };
  const release = (path: string): void => {
    const folder = dirname(path);
    if (copies.delete(folder)) rmSync(folder, { recursive: true, force: true });
  };
  const close = async () => {
    client.destroy();
    for (const copy of copies) rmSync(copy, { recursive: true, force: true });
  };
  try {
    await ask(() => client.send(new sdk.HeadBucketCommand({ Bucket: bucket })));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    place,
    draft: openDrafts(join(tmpdir(), `agentdump-drafts-${process.getuid?.() ?? 'user'}`)),
    keep: async (name, draft) => {
      await ask(() => upload(sdk, client, object(name), draft));
      rmSync(draft, { force: true });
    },
    read: async (name) => {
      const folder = mkdtempSync(join(tmpdir(), 'agentdump-blob-'));
      copies.add(folder);
      const path = join(folder, name);
      await ask(() => download(sdk, client, object(name), path)).catch((error: AgentdumpError) => {
        release(path);
        if (error.code !== 'not-found') throw error;
        const missing = locate(name);
        throw new AgentdumpError('not-found', `the store has no bundle at ${missing}`, { path: missing });
      });
      return path;
    },
    release,
    drop: async (name) => {
      await ask(() => client.send(new sdk.DeleteObjectCommand(object(name))));
    },
    locate,
    close,
  };
}

async function importSdk(): Promise<Sdk> {
  // On Node 20 every command would begin with six lines about later versions of the SDK.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  try {
    return await import('@aws-sdk/client-s3');
  } catch (cause) {
    throw new AgentdumpError(
      'usage',
      'a store in S3 needs the package @aws-sdk/client-s3: npm install @aws-sdk/client-s3',
      { argument: 'store' },
      cause,
    );
  }
}

function configOf(environment: NodeJS.ProcessEnv): S3ClientConfig {
  const endpoint = environment['AWS_ENDPOINT_URL_S3'] || environment['AWS_ENDPOINT_URL'];
  // The SDK reads AWS_REGION only. Servers other than Amazon's accept any region, but a signature needs one.
  const region =
    environment['AWS_REGION'] || environment['AWS_DEFAULT_REGION'] || (endpoint ? 'us-east-1' : undefined);
  return {
    ...(region && { region }),
    // Bucket names as host names need DNS entries that such servers rarely have.
    ...(endpoint && { endpoint, forcePathStyle: true }),
    // The SDK's own checksums come as trailers, which servers other than Amazon's may refuse.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  };
}

async function upload(
  sdk: Sdk,
  client: S3Client,
  object: { Bucket: string; Key: string },
  path: string,
): Promise<void> {
  const { size } = statSync(path);
  const ContentType = 'application/zip';
  if (size <= partBytes) {
    await client.send(new sdk.PutObjectCommand({ ...object, Body: readFileSync(path), ContentType }));
    return;
  }
  const begun = await client.send(new sdk.CreateMultipartUploadCommand({ ...object, ContentType }));
  const target = { ...object, UploadId: begun.UploadId };
  const file = await open(path);
  try {
    const Parts: { ETag: string | undefined; PartNumber: number }[] = [];
    for (let position = 0; position < size; position += partBytes) {
      const Body = Buffer.alloc(Math.min(partBytes, size - position));
      const { bytesRead } = await file.read(Body, 0, Body.length, position);
      if (bytesRead < Body.length) throw new Error(`${path} became shorter while it was sent`);
      const PartNumber = Parts.length + 1;
      const { ETag } = await client.send(new sdk.UploadPartCommand({ ...target, Body, PartNumber }));
      Parts.push({ ETag, PartNumber });
    }
    await client.send(new sdk.CompleteMultipartUploadCommand({ ...target, MultipartUpload: { Parts } }));
  } catch (error) {
    // Parts of an upload that nobody completes are charged for.
    await client.send(new sdk.AbortMultipartUploadCommand(target)).catch(() => {});
    throw error;
  } finally {
    await file.close();
  }
}

async function download(
  sdk: Sdk,
  client: S3Client,
  object: { Bucket: string; Key: string },
  path: string,
): Promise<void> {
  const { Body, ContentLength } = await client.send(new sdk.GetObjectCommand(object));
  await pipeline(Body as Readable, createWriteStream(path, { mode: 0o600 }));
  const { size } = statSync(path);
  if (ContentLength !== undefined && size !== ContentLength)
    throw new Error(`${size} of ${ContentLength} bytes of ${object.Key} came`);
}

/** `not-found` for an object that is not there, `unwritable` for anything else. */
function failureOf(place: string, error: unknown): AgentdumpError {
  const { name, message, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode;
  if (name === 'NoSuchKey')
    return new AgentdumpError('not-found', `${place}: no such object`, { path: place }, error);
  const reason = reasonOf(name, message, status);
  return new AgentdumpError('unwritable', `${place}: ${reason}`, { path: place, reason }, error);
}

/** A response to HEAD has no body, so the SDK knows its status only. */
function reasonOf(name: string, message: string, status: number | undefined): string {
  if (name === 'NoSuchBucket' || status === 404) return 'there is no such bucket';
  if (status === 403) return `access is denied (${name})`;
  if (name === 'TimeoutError') return 'it does not answer';
  if (status === 301) return 'the bucket is in another region: set AWS_REGION';
  if (name === 'CredentialsProviderError')
    return 'no credentials were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';
  return message && message !== 'UnknownError' ? message : name;
}
