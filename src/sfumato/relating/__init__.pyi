from .anonymizing import RelationalRelease as RelationalRelease
from .anonymizing import anonymize_relations as anonymize_relations
from .auditing import RelationalAudit as RelationalAudit
from .auditing import audit_relations as audit_relations
from .relation import Relation as Relation
from .relations_file import RelationsFile as RelationsFile
from .relations_file import read_relations as read_relations
