/** The only script of a report: filters the table. Without it, the whole table is there. */
export const SCRIPT = `
const form = document.getElementById('filter');
const rows = Array.from(document.querySelectorAll('#items tbody'));
const texts = rows.map((row) => row.textContent.toLowerCase());
const shown = document.getElementById('shown');
const apply = () => {
  const text = form.elements.text.value.toLowerCase();
  const status = form.elements.status.value;
  let count = 0;
  rows.forEach((row, i) => {
    const fits = texts[i].includes(text) && (status === '' || row.classList.contains('has-' + status));
    row.hidden = !fits;
    if (fits) count++;
  });
  shown.textContent = count + ' of ' + rows.length + ' rows';
};
form.hidden = false;
form.addEventListener('input', apply);
form.addEventListener('submit', (event) => event.preventDefault());
apply();
`;
