/**
 * QR codes as SVG text. It has no `#`, so clients may put it behind `data:image/svg+xml;utf-8,` as it is.
 */

/** Width of the white edge that scanners need, in modules. */
const quietZone = 4;

/** A picture of the text, black on white. @param text At most 2000 bytes. */
export async function qrCodeSvg(text: string): Promise<string> {
  const { encode } = await import('uqr');
  const { data, size } = encode(text, { ecc: 'M', border: quietZone });
  const rows = data.map((row, y) => rowPath(row, y)).join('');
  return [
    '<?xml version="1.0"?>',
    `<svg xmlns="http://www.w3.org/2000/svg" width="${4 * size}" height="${4 * size}" viewBox="0 0 ${size} ${size}"`,
    ' shape-rendering="crispEdges">',
    `<rect width="${size}" height="${size}" fill="white"/><path fill="black" d="${rows}"/></svg>`,
  ].join('');
}

/** A bar for each run of dark modules. */
function rowPath(row: readonly boolean[], y: number): string {
  const text = row.map((isDark) => (isDark ? '1' : '0')).join('');
  const runs = [...text.matchAll(/1+/g)];
  return runs.map(({ index, 0: run }) => `M${index} ${y}h${run.length}v1h-${run.length}z`).join('');
}
