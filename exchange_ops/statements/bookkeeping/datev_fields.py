"""The 125 fields of a posting of DATEV in their order, and which of them are texts. Source: DATEV Developer Portal,
DATEV format, Booking batch (format version 13)."""

from typing import Final

_HEAD: Final = (
    *("Umsatz (ohne Soll/Haben-Kz)", "Soll/Haben-Kennzeichen", "WKZ Umsatz", "Kurs", "Basis-Umsatz"),
    *("WKZ Basis-Umsatz", "Konto", "Gegenkonto (ohne BU-Schlüssel)", "BU-Schlüssel", "Belegdatum", "Belegfeld 1"),
    *("Belegfeld 2", "Skonto", "Buchungstext", "Postensperre", "Diverse Adressnummer", "Geschäftspartnerbank"),
    *("Sachverhalt", "Zinssperre", "Beleglink"),
)
_RECEIPTS: Final = tuple(f"Beleginfo - {part} {number}" for number in range(1, 9) for part in ("Art", "Inhalt"))
_COSTS: Final = (
    *("KOST1 - Kostenstelle", "KOST2 - Kostenstelle", "Kost-Menge", "EU-Land u. UStID (Bestimmung)"),
    *("EU-Steuersatz (Bestimmung)", "Abw. Versteuerungsart", "Sachverhalt L+L", "Funktionsergänzung L+L"),
    *("BU 49 Hauptfunktionstyp", "BU 49 Hauptfunktionsnummer", "BU 49 Funktionsergänzung"),
)
# The headings have a blank before the hyphen of "Art" and none before that of "Inhalt".
_FACTS: Final = tuple(f"Zusatzinformation{part} {number}" for number in range(1, 21) for part in (" - Art", "- Inhalt"))
_TAIL: Final = (
    *("Stück", "Gewicht", "Zahlweise", "Forderungsart", "Veranlagungsjahr", "Zugeordnete Fälligkeit", "Skontotyp"),
    *("Auftragsnummer", "Buchungstyp", "USt-Schlüssel (Anzahlungen)", "EU-Land (Anzahlungen)"),
    *("Sachverhalt L+L (Anzahlungen)", "EU-Steuersatz (Anzahlungen)", "Erlöskonto (Anzahlungen)", "Herkunft-Kz"),
    *("Buchungs GUID", "KOST-Datum", "SEPA-Mandatsreferenz", "Skontosperre", "Gesellschaftername"),
    *("Beteiligtennummer", "Identifikationsnummer", "Zeichnernummer", "Postensperre bis"),
    *("Bezeichnung SoBil-Sachverhalt", "Kennzeichen SoBil-Buchung", "Festschreibung", "Leistungsdatum"),
    *("Datum Zuord. Steuerperiode", "Fälligkeit", "Generalumkehr (GU)", "Steuersatz", "Land"),
    *("Abrechnungsreferenz", "BVV-Position", "EU-Land u. UStID (Ursprung)", "EU-Steuersatz (Ursprung)"),
    "Abw. Skontokonto",
)
COLUMNS: Final = (*_HEAD, *_RECEIPTS, *_COSTS, *_FACTS, *_TAIL)
TEXTS: Final = frozenset(
    {
        *("Soll/Haben-Kennzeichen", "WKZ Umsatz", "WKZ Basis-Umsatz", "BU-Schlüssel", "Belegfeld 1", "Belegfeld 2"),
        *("Buchungstext", "Diverse Adressnummer", "Beleglink", *_RECEIPTS, *_FACTS),
        *("KOST1 - Kostenstelle", "KOST2 - Kostenstelle", "EU-Land u. UStID (Bestimmung)", "Abw. Versteuerungsart"),
        *("Forderungsart", "Auftragsnummer", "Buchungstyp", "EU-Land (Anzahlungen)", "Herkunft-Kz", "Buchungs GUID"),
        *("SEPA-Mandatsreferenz", "Gesellschaftername", "Identifikationsnummer", "Zeichnernummer"),
        *("Bezeichnung SoBil-Sachverhalt", "Generalumkehr (GU)", "Land", "Abrechnungsreferenz"),
        "EU-Land u. UStID (Ursprung)",
    }
)
