from .audit import RelationalAudit as RelationalAudit
from .audit import audit_relations as audit_relations
from .relation import Relation as Relation
from .relation import RelationsFile as RelationsFile
from .relation import read_relations as read_relations
from .release import RelationalRelease as RelationalRelease
from .release import anonymize_relations as anonymize_relations
