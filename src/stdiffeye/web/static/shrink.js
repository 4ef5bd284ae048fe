// Pictures that are too large for the server, made smaller by the browser.

const QUALITY = 0.92, ROOM = 0.95, ATTEMPTS = 4;

/** {file, size} of what can be uploaded, `size` where it has fewer pixels now; null where the browser cannot read it. */
export async function shrunk(file, { upload_bytes: bytes, megapixels }) {
  const bitmap = await createImageBitmap(file).catch(() => null);
  if (bitmap === null) return file.size > bytes ? null : { file }; // the server may still read what the browser cannot
  const pixels = bitmap.width * bitmap.height, most = megapixels * 1e6;
  if (file.size <= bytes && pixels <= most) { bitmap.close(); return { file }; }
  let scale = Math.min(1, Math.sqrt((ROOM * most) / pixels)), found = null;
  for (let k = 0; k < ATTEMPTS && found === null; k++) {
    const blob = await drawn(bitmap, scale);
    if (blob.size <= bytes) found = { file: new File([blob], file.name, { type: blob.type }), size: scale < 1 ? sizeOf(bitmap, scale) : null };
    else scale *= ROOM * Math.sqrt(bytes / blob.size);
  }
  bitmap.close();
  return found;
}

const sizeOf = (bitmap, scale) => [bitmap.width, bitmap.height].map((side) => Math.max(1, Math.round(side * scale)));

function drawn(bitmap, scale) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = sizeOf(bitmap, scale);
  const pen = canvas.getContext("2d");
  pen.imageSmoothingQuality = "high";
  pen.fillStyle = "#fff"; pen.fillRect(0, 0, canvas.width, canvas.height); // JPEG has no transparency
  pen.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => { canvas.toBlob(resolve, "image/jpeg", QUALITY); });
}
