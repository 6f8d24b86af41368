import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { invalidOptions, reasonOf } from '../protocol/errors.ts';
import { type SigningKeyPair, signingKeyPair } from '../protocol/signing.ts';

const PRIVATE = 0o600;

/**
 * The key pair in a file: a private Ed25519 key as PEM (PKCS 8). It is made, for its owner alone, if it is not there. Fails with
 * INVALID_OPTIONS naming the file.
 */
export async function keyInFile(path: string): Promise<SigningKeyPair> {
  try {
    return pairOf(createPrivateKey(await readOrMake(path)));
  } catch (error) {
    throw invalidOptions(
      'peers.identity.key',
      path,
      `the file of a private Ed25519 key (${reasonOf(error)})`,
    );
  }
}

async function readOrMake(path: string): Promise<string> {
  const { privateKey } = signingKeyPair();
  const made = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  try {
    // Of several that start at once one makes it.
    await writeFile(path, made, { flag: 'wx', mode: PRIVATE, flush: true });
    return made;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return await readFile(path, 'utf8');
  }
}

function pairOf(privateKey: KeyObject): SigningKeyPair {
  if (privateKey.asymmetricKeyType !== 'ed25519')
    throw new Error(`it is a key of ${privateKey.asymmetricKeyType}`);
  return { publicKey: createPublicKey(privateKey).export({ format: 'jwk' }).x as string, privateKey };
}
