/** Header and cookie of the position in the primary's log up to which a caller must see writes. */
export const positionName = 'pgreflect-lsn';
