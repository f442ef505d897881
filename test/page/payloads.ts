/** Texts that would run or draw something if they became markup anywhere. Each calls `alert`, or opens a frame. */
export const PAYLOADS = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(2)>',
  '"><svg onload=alert(3)>',
  "' onmouseover='alert(4)",
  '</pre></script><script>alert(5)</script>',
  '<iframe srcdoc="<script>alert(6)</script>"></iframe>',
  'javascript:alert(7)',
  '<a href="javascript:alert(8)">x</a>',
  '<style>*{display:none}</style>',
  '<!--<img src="--><img src=x onerror=alert(9)//">',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is one for template languages
  '${alert(10)}{{alert(11)}}',
  '&lt;script&gt;alert(12)&lt;/script&gt;',
  '<base href="http://127.0.0.1:9/"><form action=//127.0.0.1:9><input autofocus onfocus=alert(13)>',
  '\u202egnp.exe\u202c\u0000\u001b[31m',
  '__proto__',
  'constructor',
] as const;

/** The same as one CSV cell. */
export function csvCell(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
