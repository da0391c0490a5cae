/** Constants of the ELF format in its own spelling. System V ABI, chapter 4–5; elf(5). 64-bit little-endian only. */

export const ELF_MAGIC = 0x464c457f;
export const ELFCLASS64 = 2;
export const ELFDATA2LSB = 1;
export const EHDR_SIZE = 64;
export const PHDR_SIZE = 56;
export const SHDR_SIZE = 64;
export const SYM_SIZE = 24;
/** Value of e_phnum if the number does not fit and is in sh_info of section 0. */
export const PN_XNUM = 0xffff;

export const ET_EXEC = 2;
export const ET_DYN = 3;
export const ET_CORE = 4;

export const EM_X86_64 = 62;
export const EM_AARCH64 = 183;
/** For messages about machines that are not supported. */
export const machineNames: Record<number, string> = {
  3: 'x86 (32 bit)',
  8: 'MIPS',
  20: 'PowerPC',
  21: 'PowerPC64',
  22: 's390',
  40: 'ARM (32 bit)',
  62: 'x86-64',
  183: 'AArch64',
  243: 'RISC-V',
  258: 'LoongArch',
};

export const PT_LOAD = 1;
export const PT_DYNAMIC = 2;
export const PT_NOTE = 4;
export const PT_GNU_EH_FRAME = 0x6474e550;
export const PF_X = 1;
export const PF_W = 2;
export const PF_R = 4;

export const SHT_SYMTAB = 2;
export const SHT_STRTAB = 3;
export const SHT_DYNSYM = 11;

export const NT_GNU_BUILD_ID = 3;

export const STT_OBJECT = 1;
export const STT_FUNC = 2;
export const STT_GNU_IFUNC = 10;
