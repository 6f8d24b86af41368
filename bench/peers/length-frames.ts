const HEADER_BYTES = 4;

/** A text and its length in bytes before it, 32 bits. */
export function frameOf(text: string): Buffer {
  const bytes = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(HEADER_BYTES + bytes);
  frame.writeUInt32BE(bytes);
  frame.write(text, HEADER_BYTES);
  return frame;
}

/** Takes pieces of a stream, and gives the texts that are whole to `onText`. */
export function frameReader(onText: (text: string) => void): (piece: Uint8Array) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (piece) => {
    rest = rest.length === 0 ? Buffer.from(piece) : Buffer.concat([rest, piece]);
    let at = 0;
    while (rest.length - at >= HEADER_BYTES) {
      const end = at + HEADER_BYTES + rest.readUInt32BE(at);
      if (end > rest.length) break;
      onText(rest.toString('utf8', at + HEADER_BYTES, end));
      at = end;
    }
    rest = rest.subarray(at);
  };
}
