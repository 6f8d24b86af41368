/** Gives a text to whoever looks at the page as a file. */
export function saveFile(
  text: string,
  { name, type }: { readonly name: string; readonly type: string },
): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name.replace(/[^\w.-]+/g, '-').slice(0, 80);
  link.click();
  URL.revokeObjectURL(url);
}
