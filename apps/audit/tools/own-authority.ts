import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readSource } from '@orrery/ralph-loop/findings/read-source';

const CERTIFICATE = /\.(?:crt|cer|cert|pem)$/i;

/**
 * Whether the certificate of a private key lies beside it, and no public authority has issued that: those write into each of
 * theirs where they are asked about it. Such a pair is made for a development or a test, and guards nothing that others trust.
 */
export function isOfOwnAuthority(root: string, file: string, key: string): boolean {
  const folder = dirname(file);
  const names = readdirSync(join(root, folder)).filter((name) => CERTIFICATE.test(name));
  return names.some((name) => {
    const read = readSource(root, join(folder, name));
    return 'source' in read && isOf(read.source.text, key);
  });
}

function isOf(text: string, key: string): boolean {
  try {
    const certificate = new X509Certificate(text);
    return certificate.infoAccess === undefined && certificate.checkPrivateKey(createPrivateKey(key));
  } catch {
    // It is no certificate, or no key that OpenSSL reads.
    return false;
  }
}
