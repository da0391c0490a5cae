/** The field that filters a list; the key `/` focuses it, unless it has another id. */
interface FilterFieldProps {
  label: string;
  value: string;
  onFilter: (text: string) => void;
  id?: string;
  hint?: string;
}

export function FilterField({ label, value, onFilter, id = 'search', hint = 'Filter  /' }: FilterFieldProps) {
  return (
    <input
      id={id}
      type="search"
      class="field"
      placeholder={hint}
      aria-label={label}
      autocomplete="off"
      spellcheck={false}
      value={value}
      onInput={(event) => onFilter(event.currentTarget.value)}
    />
  );
}
