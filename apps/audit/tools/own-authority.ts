import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readSource } from '@orrery/ralph-loop/findings/read-source';

const CERTIFICATE = /\.(?:crt|cer|cert|pem)$/i;

/**
 * Whether a private key has a certificate beside it that no public authority issued: theirs name the issuer's addresses. Such
 * a pair is made for development or tests, and protects nothing that others trust.
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
    // No certificate, or no key that OpenSSL can read.
    return false;
  }
}
