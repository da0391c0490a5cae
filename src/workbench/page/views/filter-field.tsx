/** The field that filters a list; the key `/` focuses it. */
interface FilterFieldProps {
  label: string;
  value: string;
  onFilter: (text: string) => void;
}

export function FilterField({ label, value, onFilter }: FilterFieldProps) {
  return (
    <input
      id="search"
      type="search"
      class="field"
      placeholder="Filter  /"
      aria-label={label}
      autocomplete="off"
      spellcheck={false}
      value={value}
      onInput={(event) => onFilter(event.currentTarget.value)}
    />
  );
}
