/** Whether an image is named without a version, or by `latest`. A variable may stand for anything. */
export function isMovingImage(image: string): boolean {
  if (image.includes('$') || image.includes('@')) return false;
  const tag = /:([^:/]+)$/.exec(image)?.[1];
  return tag === undefined || tag === 'latest';
}
