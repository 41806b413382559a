from .tables.algorithms.base import TableAlgorithm as TableAlgorithm
from .tables.algorithms.base import TableRequest as TableRequest
from .tables.algorithms.bucketization.anatomy import Anatomy as Anatomy
from .tables.algorithms.bucketization.cross_bucket_generalization import (
    CrossBucketGeneralization as CrossBucketGeneralization,
)
from .tables.algorithms.bucketization.local_anatomy import LocalAnatomy as LocalAnatomy
from .tables.algorithms.bucketization.local_anatomy_generalization import (
    LocalAnatomyGeneralization as LocalAnatomyGeneralization,
)
from .tables.algorithms.bucketization.m_invariant_buckets import MInvariantBuckets as MInvariantBuckets
from .tables.algorithms.bucketization.slicing import Slicing as Slicing
from .tables.algorithms.full_domain.datafly import Datafly as Datafly
from .tables.algorithms.full_domain.fixed_levels import FixedLevels as FixedLevels
from .tables.algorithms.full_domain.identity import Identity as Identity
from .tables.algorithms.full_domain.incognito import Incognito as Incognito
from .tables.algorithms.full_domain.min_gen import MinGen as MinGen
from .tables.algorithms.full_domain.optimal import Optimal as Optimal
from .tables.algorithms.full_domain.samarati import Samarati as Samarati
from .tables.algorithms.local.local_recoding import LocalRecoding as LocalRecoding
from .tables.algorithms.local.mondrian import Mondrian as Mondrian
from .tables.algorithms.local.sabre import SABRE as SABRE
from .tables.algorithms.local.top_down_ncp import TopDownNCP as TopDownNCP
from .tables.algorithms.microaggregation.greedy_pk_clustering import GreedyPKClustering as GreedyPKClustering
from .tables.algorithms.microaggregation.k_member import KMember as KMember
from .tables.algorithms.microaggregation.maa_slie import MAASLIE as MAASLIE
from .tables.algorithms.microaggregation.mdav import MDAV as MDAV
from .tables.algorithms.microaggregation.v_mdav import VMDAV as VMDAV
from .tables.algorithms.subtree.bottom_up_generalization import BottomUpGeneralization as BottomUpGeneralization
from .tables.algorithms.subtree.k_optimize import KOptimize as KOptimize
from .tables.algorithms.subtree.top_down_specialization import TopDownSpecialization as TopDownSpecialization
